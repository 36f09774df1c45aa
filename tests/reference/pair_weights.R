# Weighted mean of independent scores, and weighted difference of two systems on the same items: survey (linearised). Writes
# pair_weights.json.
suppressMessages({library(survey); library(jsonlite)})
g <- rep(1:7, c(4, 5, 3, 6, 2, 5, 5))
w <- c(1, 2, .5, 1.5, 3, 3, 1, .25, 2, 1, 1, .4, 1.7, 2.2, 1, 1, 1, 2, 2, 4, .3, .3, 1, 5, 1, 1, 2, .8, 1.1, .6)
data <- list(
  binary = list(
    a = c(1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0),
    b = c(1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0)),
  fractional = list(
    a = c(.9, .75, .1, 1, 0, .6, .8, .2, .3, .95, 1, .4, .05, 0, .7, .85, 1, .9, .25, .8, .5, .6, 1, .9, .1, .7, .65, .8, .15, .35),
    b = c(.7, .65, .3, 1, .1, .5, .8, .4, .1, .75, .6, .5, .05, .2, .9, .85, .4, .7, .35, .6, .3, .8, .9, .9, .1, .5, .45, .9, .1, .3)))
out <- list(tool = paste0("R ", getRversion(), "; survey ", packageVersion("survey")),
  note = "svydesign(ids=~1 or ~g, weights=~w), svymean of a and of a - b, svyglm(d ~ 1)", g = g, w = w, data = list())
for (k in names(data)) {
  df <- data.frame(data[[k]], g = g, w = w); df$d <- df$a - df$b
  items <- svydesign(ids = ~1, weights = ~w, data = df); clusters <- svydesign(ids = ~g, weights = ~w, data = df)
  of <- function(m) list(estimate = unname(coef(m)), se = unname(as.numeric(SE(m))))
  fit <- svyglm(d ~ 1, clusters)
  out$data[[k]] <- list(a = df$a, b = df$b, rate = of(svymean(~a, items)), difference = of(svymean(~d, items)),
    clustered = of(svymean(~d, clusters)),
    glm = list(estimate = unname(coef(fit)), se = unname(sqrt(diag(vcov(fit)))), p = unname(summary(fit)$coefficients[, 4]),
               ci = unname(as.numeric(confint(fit)))))
}
writeLines(toJSON(out, digits = NA, auto_unbox = TRUE, pretty = TRUE), "pair_weights.json")
