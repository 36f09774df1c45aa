# Weighted mean of clustered scores: survey (linearised) and clubSandwich on lm(weights). Writes weights.json.
suppressMessages({library(survey); library(clubSandwich); library(jsonlite)})
g <- rep(1:6, c(4, 7, 3, 6, 8, 2))
w <- c(1, 2, .5, 1.5, 3, 3, 1, .25, 2, 1, 1, .4, 1.7, 2.2, 1, 1, 1, 2, 2, 4, .3, .3, 1, 5, 1, 1, 2, .8, 1.1, .6)
w_g <- c(2, .5, 1, 3, 1.2, .7)
data <- list(
  binary = c(1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0),
  fractional = c(.9, .75, .1, 1, 0, .6, .8, .2, .3, .95, 1, .4, .05, 0, .7, .85, 1, .9, .25, .8, .5, .6, 1, .9, .1, .7, .65,
                 .8, .15, .35),
  wide = c(7, 9, 2, 10, -1, 6, 8, 3, 3, 9, 10, 4, 1, 0, 7, 8, 10, 9, 2, 8, 5, 6, 12, 9, 1, 7, 6, 8, 2, 3))
out <- list(tool = paste0("R ", getRversion(), "; survey ", packageVersion("survey"), "; clubSandwich ", packageVersion("clubSandwich")),
  note = paste("svydesign(ids=~g, weights=~w), svymean(deff='replace'); lm(y~1, weights=w), vcovCR(inverse_var=TRUE) and",
               "Satterthwaite df. The CR2 of lm (weights that differ within clusters) takes another matrix root, so it is not asserted."), g = g, w = w, w_g = w_g, data = list())
for (k in names(data)) {
  df <- data.frame(y = data[[k]], g = g, w = w)
  design <- svydesign(ids = ~g, weights = ~w, data = df)
  m <- svymean(~y, design, deff = "replace")
  r <- list(y = df$y, mean = unname(coef(m)), se = unname(as.numeric(SE(m))), deff = unname(as.numeric(deff(m))),
            df = degf(design))
  if (k != "wide") for (method in c("logit", "beta"))
    r[[method]] <- unname(as.numeric(attr(svyciprop(~y, design, method = method), "ci")))
  # Three routes to the same: lm with weights; least squares on rows scaled by sqrt(w), as Bell and McCaffrey state it; and
  # lm with weights that are equal within each cluster (w_g below).
  df$v <- sqrt(df$w); df$z <- df$v * df$y; df$u <- w_g[df$g]
  fits <- list(lm = lm(y ~ 1, df, weights = w), scaled = lm(z ~ 0 + v, df), by_cluster = lm(y ~ 1, df, weights = u))
  for (f in names(fits)) for (type in c("CR0", "CR1", "CR2", "CR3")) {
    V <- vcovCR(fits[[f]], cluster = df$g, type = type, inverse_var = TRUE)
    test <- as.data.frame(coef_test(fits[[f]], vcov = V, test = "Satterthwaite"))
    r[[f]][[type]] <- list(var = V[1, 1], df_satt = if ("df_Satt" %in% names(test)) test$df_Satt[1] else test$df[1])
  }
  out$data[[k]] <- r
}
writeLines(toJSON(out, digits = NA, auto_unbox = TRUE, pretty = TRUE), "weights.json")
