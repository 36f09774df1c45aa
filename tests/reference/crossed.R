# Two-way and three-way clustered variances of a mean: sandwich::vcovCL by inclusion and exclusion.
#   Rscript crossed.R > crossed.json
suppressMessages({library(sandwich); library(jsonlite)})
grid <- function(n_a, n_b, n_c, keep) {
  d <- expand.grid(a = seq_len(n_a), b = seq_len(n_b), c = seq_len(n_c))
  d <- d[(seq_len(nrow(d)) * 7) %% 11 < keep, ]
  d$y <- as.numeric((3 * d$a^2 + 5 * (d$b %% 3) + d$c + d$a * d$b) %% 7 > 2)
  d$y[d$b == 1] <- 1
  d$y[d$a == 2] <- 0
  d
}
variances <- function(d, clusters) {
  fit <- lm(y ~ 1, d)
  v <- function(...) vcovCL(fit, cluster = clusters, ...)[1, 1]
  list(cr0 = v(type = "HC0", cadjust = FALSE), cr1 = v(type = "HC0", cadjust = TRUE))
}
sets <- list(even = grid(8, 6, 1, 11), holes = grid(9, 7, 2, 8), sparse = grid(12, 10, 1, 4), few = grid(3, 3, 2, 9))
out <- lapply(sets, function(d) c(
  as.list(d[c("a", "b", "c", "y")]), list(mean = mean(d$y), two = variances(d, ~ a + b)),
  if (length(unique(d$c)) > 1) list(three = variances(d, ~ a + b + c))
))
cat(toJSON(list(tool = paste(R.version.string, "sandwich", packageVersion("sandwich")),
                note = "vcovCL(lm(y~1), cluster=~a+b, type='HC0'), cadjust FALSE and TRUE (G/(G-1) in each term, multi0=FALSE)",
                data = out), digits = NA, auto_unbox = TRUE, pretty = FALSE))
