"""The methods by name: a sentence on each, where it comes from, and what it needs. Checks of options and the report read them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

Need: TypeAlias = Literal[
    "bounded", "binary", "clusters", "independent", "counts", "crossed", "single", "resamples"
]


@dataclasses.dataclass(frozen=True, slots=True)
class Source:
    """A publication."""

    text: str  # author, year, title, journal, pages
    url: str = ""  # its DOI or archive as a link; empty where there is none


@dataclasses.dataclass(frozen=True, slots=True)
class Method:
    """A method in words, with its sources and what it needs."""

    name: str  # as the option has it
    sentence: str  # what it does
    sources: tuple[Source, ...] = ()  # where it comes from
    # Of the scores: `"bounded"` (in [0, 1]), `"binary"` (0 or 1). Of the items: `"clusters"`, `"independent"` (no
    # clusters), `"counts"` (whole numbers, so no weights). Of the clusterings: `"crossed"` (several), `"single"` (one).
    # `"resamples"`: it draws.
    needs: tuple[Need, ...] = ()


Table: TypeAlias = Mapping[str, Method]


def needing(table: Table, need: Need) -> tuple[str, ...]:
    """The names of the methods with this need."""
    return tuple(name for name, method in table.items() if need in method.needs)


def _read(text: str) -> Iterator[str]:
    """The entries of a text: each starts at the margin."""
    return (" ".join(entry.split()) for entry in re.split(r"\n(?=\S)", text.strip()))


def _sources(text: str) -> dict[str, Source]:
    """The publications by key; a link ends an entry."""
    found = {}
    for entry in _read(text):
        key, words = entry.split(": ", 1)
        cited, _, link = words.partition(" https://")
        found[key] = Source(cited, link and f"https://{link}")
    return found


def _table(text: str) -> dict[str, Method]:
    """The methods by name: name | sources | needs | sentence."""
    found = {}
    for entry in _read(text):
        name, sources, needs, sentence = (part.strip() for part in entry.split("|"))
        needed: Any = tuple(needs.split())
        found[name] = Method(name, sentence, tuple(_SOURCES[key] for key in sources.split()), needed)
    return found


_SOURCES = _sources(
    """
kish: Kish, L. (1965). Survey Sampling. Wiley.
korn: Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected number
  of positive counts estimated from survey data. Survey Methodology 24, 193-201.
brown: Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial proportion.
  Statistical Science 16, 101-133. https://doi.org/10.1214/ss/1009213286
clopper: Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the
  case of the binomial. Biometrika 26, 404-413. https://doi.org/10.1093/biomet/26.4.404
wilson: Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of
  the American Statistical Association 22, 209-212. https://doi.org/10.1080/01621459.1927.10502953
franco: Franco, C., Little, R. J. A., Louis, T. A. and Slud, E. V. (2019). Comparative study of confidence
  intervals for proportions in complex sample surveys. Journal of Survey Statistics and Methodology 7,
  334-364. https://pmc.ncbi.nlm.nih.gov/articles/PMC6690503
liang: Liang, K.-Y. and Zeger, S. L. (1986). Longitudinal data analysis using generalized linear models.
  Biometrika 73, 13-22. https://doi.org/10.1093/biomet/73.1.13
bell: Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with
  multi-stage samples. Survey Methodology 28, 169-181.
davison: Davison, A. C. and Hinkley, D. V. (1997). Bootstrap Methods and their Application. Cambridge
  University Press. https://doi.org/10.1017/CBO9780511802843
miller: Cameron, A. C. and Miller, D. L. (2015). A practitioner's guide to cluster-robust inference. Journal
  of Human Resources 50, 317-372. https://doi.org/10.3368/jhr.50.2.317
pustejovsky: Pustejovsky, J. E. and Tipton, E. (2018). Small-sample methods for cluster-robust variance
  estimation and hypothesis testing in fixed effects models. Journal of Business & Economic Statistics 36,
  672-683. https://doi.org/10.1080/07350015.2016.1247004
gelbach: Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2008). Bootstrap-based improvements for inference
  with clustered errors. Review of Economics and Statistics 90, 414-427. https://doi.org/10.1162/rest.90.3.414
crossed: Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2011). Robust inference with multiway clustering.
  Journal of Business & Economic Statistics 29, 238-249. https://doi.org/10.1198/jbes.2010.07136
efron: Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American Statistical
  Association 82, 171-185. https://doi.org/10.1080/01621459.1987.10478410
owen: Owen, A. B. (2007). The pigeonhole bootstrap. Annals of Applied Statistics 1, 386-411.
  https://doi.org/10.1214/07-AOAS122
ridout: Ridout, M. S., Demetrio, C. G. B. and Firth, D. (1999). Estimating intraclass correlation for binary
  data. Biometrics 55, 137-148. https://doi.org/10.1111/j.0006-341x.1999.00137.x
tango: Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the
  paired-sample design. Statistics in Medicine 17, 891-908.
  https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8%3C891::AID-SIM780%3E3.0.CO;2-B
newcombe: Newcombe, R. G. (1998). Improved confidence intervals for the difference between binomial
  proportions based on paired data. Statistics in Medicine 17, 2635-2650.
  https://doi.org/10.1002/(SICI)1097-0258(19981130)17:22%3C2635::AID-SIM954%3E3.0.CO;2-C
bonett: Bonett, D. G. and Price, R. M. (2012). Adjusted Wald confidence interval for a difference of binomial
  proportions based on paired data. Journal of Educational and Behavioral Statistics 37, 479-488.
  https://doi.org/10.3102/1076998611411915
agresti: Agresti, A. and Min, Y. (2005). Simple improved confidence intervals for comparing matched
  proportions. Statistics in Medicine 24, 729-740. https://doi.org/10.1002/sim.1781
mcnemar: McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or
  percentages. Psychometrika 12, 153-157. https://doi.org/10.1007/BF02295996
fagerland: Fagerland, M. W., Lydersen, S. and Laake, P. (2013). The McNemar test for binary matched-pairs
  data: mid-p and asymptotic are better than exact conditional. BMC Medical Research Methodology 13, 91.
  https://doi.org/10.1186/1471-2288-13-91
holm: Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
  Statistics 6, 65-70. https://www.jstor.org/stable/4615733
hochberg: Hochberg, Y. (1988). A sharper Bonferroni procedure for multiple tests of significance. Biometrika
  75, 800-802. https://doi.org/10.1093/biomet/75.4.800
bh: Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate: a practical and powerful
  approach to multiple testing. Journal of the Royal Statistical Society B 57, 289-300.
  https://doi.org/10.1111/j.2517-6161.1995.tb02031.x
by: Benjamini, Y. and Yekutieli, D. (2001). The control of the false discovery rate in multiple testing under
  dependency. Annals of Statistics 29, 1165-1188. https://doi.org/10.1214/aos/1013699998
dunn: Dunn, O. J. (1961). Multiple comparisons among means. Journal of the American Statistical Association
  56, 52-64. https://doi.org/10.1080/01621459.1961.10482090
sup_t: Montiel Olea, J. L. and Plagborg-Moller, M. (2019). Simultaneous confidence bands: theory,
  implementation, and an application to SVARs. Journal of Applied Econometrics 34, 1-17.
  https://doi.org/10.1002/jae.2656
schuirmann: Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach
  for assessing the equivalence of average bioavailability. Journal of Pharmacokinetics and Biopharmaceutics
  15, 657-680. https://doi.org/10.1007/BF01068419
"""
)
RATE = _table(
    """
icc_averaged | korn clopper kish | bounded | Clopper and Pearson's interval at the effective sample size,
  averaged over what the data say about the intracluster correlation; it assumes that clusters are independent
  of each other.
cr0 | liang miller | | Student's t with the cluster-robust standard error CR0, without a correction for few
  clusters.
cr1 | liang miller | | Student's t with the cluster-robust standard error CR1, corrected by G/(G - 1) for G
  clusters.
cr2 | bell pustejovsky | | Student's t with the cluster-robust standard error CR2, with Bell and McCaffrey's
  degrees of freedom.
cr3 | bell miller | | Student's t with the cluster-robust standard error CR3, which leaves out a cluster at a
  time.
wald | franco | bounded | Wald's interval on the effective sample size that the clusters leave.
wilson | franco wilson | bounded | Wilson's interval on the effective sample size that the clusters leave.
logit | franco | bounded | Wald's interval of the log odds with the clustered standard error.
clopper_pearson | franco clopper | bounded | Clopper and Pearson's interval on the effective sample size that
  the clusters leave.
korn_graubard | korn | bounded | Clopper and Pearson's interval at Korn and Graubard's effective sample size.
bootstrap_percentile | davison | resamples single | Bootstrap that draws whole clusters, percentile limits.
bootstrap_bca | efron | resamples single | Bootstrap that draws whole clusters, limits corrected for bias and
  acceleration.
bootstrap_t | davison gelbach | resamples single | Bootstrap that draws whole clusters, limits from its t
  statistic.
bootstrap_exact | davison | single | Percentile limits of the bootstrap of whole clusters, without drawing.
bootstrap_pigeonhole | owen | resamples crossed | Bootstrap that draws the clusters of each clustering.
"""
)
NAIVE = _table(
    """
wilson | wilson brown | | Wilson's interval, which takes every score as independent.
t | | | Student's t interval of the mean, which takes every score as independent.
"""
)
DIFFERENCE = _table(
    """
icc_averaged | tango kish | binary clusters | Tango's score interval and test of paired scores at the
  effective sample size, averaged over what the data say about the intracluster correlation of the items'
  differences.
tango | tango | binary independent | Tango's score interval and test of paired scores, for independent items.
newcombe | newcombe | binary independent counts | Newcombe's hybrid score interval of paired scores, for
  independent items.
bonett_price | bonett | binary independent counts | Bonett and Price's adjusted Wald interval of paired
  scores, for independent items.
agresti_min | agresti | binary independent counts | Agresti and Min's adjusted Wald interval of paired scores,
  for independent items.
"""
) | {
    name: RATE[name] for name in ("cr0", "cr1", "cr2", "cr3", "bootstrap_percentile", "bootstrap_pigeonhole")
}
NAIVE_DIFFERENCE = DIFFERENCE | _table(
    "cr2 | | | Student's t interval of the paired differences, which takes every item as independent."
)
TEST = _table(
    """
exact | mcnemar | | McNemar's exact test, for independent items.
midp | fagerland | | McNemar's test with the mid-p value, for independent items.
interval | | | The interval's own: p is below one minus the level where it leaves out zero.
"""
)
CORRECTION = _table(
    """
bonferroni | dunn | | Bonferroni's correction: bounds the chance of any false finding.
holm | holm | | Holm's correction: bounds the chance of any false finding.
hochberg | hochberg | | Hochberg's correction: bounds the chance of any false finding.
bh | bh | | Benjamini and Hochberg's correction: bounds the expected share of false findings.
by | by | | Benjamini and Yekutieli's correction: bounds the expected share of false findings.
none | | | No correction for the number of comparisons.
"""
)
SIMULTANEOUS = _table(
    """
sup_t | sup_t dunn | | Limits that hold for all pairs together, from a multiplier bootstrap over whole
  clusters; with few clusters as wide as Bonferroni's.
"""
)
VERDICT = _table(
    """
superiority | | | One-sided test that the difference is above the margin; at a margin of 0 the two-sided test
  of no difference. Inferior is said of one below minus the margin, by a one-sided test at half the level.
noninferiority | | | One-sided test that the difference is above minus the margin. Inferior is said of one
  below minus the margin, by a one-sided test at half the level.
equivalence | schuirmann | | Two one-sided tests that the difference lies between minus the margin and the
  margin. Different is said of one beyond either, by a one-sided test at half the level.
"""
)
ICC = _table(
    "anova | ridout kish | | Intracluster correlation from the analysis of variance, and Kish's design effect."
)
CROSSED = _table(
    "crossed | crossed | | Clusterings that cross: variances added, that of their meet subtracted."
)
# What the tests of `mcnemar` need.
MCNEMAR: dict[str, tuple[Need, ...]] = {
    "exact": ("independent", "counts"),
    "midp": ("independent", "counts"),
    "asymptotic": ("independent",),
    "corrected": ("independent", "counts"),
    "icc_averaged": ("clusters",),
    "obuchowski": ("clusters", "single"),
    "durkalski": ("clusters", "single"),
    "yang": ("clusters", "single"),
    "eliasziw": ("clusters", "single", "counts"),
    "sign_flip": ("clusters", "single"),
}
