# What R users get with other packages' defaults: geepack iterated to the end, lme4's mean with its error, sandwich one and two ways,
# survey's jackknife. Writes other_packages.json. The data sets are those of make_with_r.R.
suppressMessages({library(survey); library(sandwich); library(geepack); library(lme4); library(jsonlite)})
version <- function(p) paste(p, packageVersion(p))
ds <- list(
  A = list(s = c(3, 5, 2, 4, 5, 1, 5, 3), m = c(5, 5, 5, 5, 5, 5, 5, 5)),
  B = list(s = c(20, 3, 7, 1, 9, 2, 5, 12, 0, 4), m = c(40, 3, 8, 2, 9, 6, 5, 15, 3, 4)),
  C = list(s = c(158, 51, 30, 20, 22, 14, 15, 16, 3, 7, 1, 1), m = c(231, 75, 44, 34, 32, 22, 22, 19, 10, 8, 2, 1)),
  D = list(s = c(10, 10, 9, 10, 10, 8, 10), m = rep(10, 7)),
  E = list(s = c(4, 4, 4, 4, 4, 3), m = rep(4, 6)))
expand <- function(d) data.frame(y = unlist(mapply(function(s, m) c(rep(1, s), rep(0, m - s)), d$s, d$m, SIMPLIFY = FALSE)),
  g = rep(seq_along(d$m), d$m))
out <- list(tool = paste0("R ", getRversion(), "; ", paste(sapply(c("survey", "sandwich", "geepack", "lme4"), version), collapse = "; ")),
  note = paste("geeglm(corstr='exchangeable', control=geese.control(epsilon=1e-13, maxit=500)): its default stops where steps are",
    "below 1e-4. lmer(y~1+(1|g)), REML. vcovCL(lm, ~g) with its default type and cadjust. svymean of as.svrepdesign(type='JK1', mse=TRUE).",
    "two_way: vcovCL(lm, ~g+h) with its default multi0=FALSE, and terms: the same one way by g, by h, and by both."), data = list())
for (k in names(ds)) {
  df <- expand(ds[[k]])
  gee <- geeglm(y ~ 1, family = binomial, id = g, data = df, corstr = "exchangeable", control = geese.control(epsilon = 1e-13, maxit = 500))
  told <- summary(gee)
  mixed <- suppressMessages(lmer(y ~ 1 + (1 | g), df))
  fit <- lm(y ~ 1, df)
  jack <- svymean(~y, as.svrepdesign(svydesign(ids = ~g, weights = ~1, data = df), type = "JK1", mse = TRUE))
  out$data[[k]] <- c(ds[[k]], list(
    gee_exchangeable = list(beta = unname(coef(gee)), se = told$coefficients[1, 2], alpha = told$corr[1, 1], scale = told$dispersion[1, 1]),
    lmer = list(mu = unname(fixef(mixed)), se = sqrt(as.matrix(vcov(mixed))[1, 1]), var_g = as.data.frame(VarCorr(mixed))$vcov[1],
                var_e = as.data.frame(VarCorr(mixed))$vcov[2]),
    vcovCL = vcovCL(fit, cluster = ~g)[1, 1], jk1_se = unname(as.numeric(SE(jack)))))
}
df <- expand(ds$B)
df$h <- (seq_len(nrow(df)) * 7) %% 5 + 1
fit <- lm(y ~ 1, df)
both <- interaction(df$g, df$h, drop = TRUE)
out$two_way <- list(g = df$g, h = df$h, y = df$y, vcovCL = vcovCL(fit, cluster = ~g + h)[1, 1],
  terms = c(vcovCL(fit, cluster = ~g)[1, 1], vcovCL(fit, cluster = ~h)[1, 1], vcovCL(fit, cluster = both)[1, 1]))
writeLines(toJSON(out, digits = NA, auto_unbox = TRUE, pretty = TRUE), "other_packages.json")
