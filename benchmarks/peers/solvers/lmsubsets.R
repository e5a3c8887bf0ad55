# The best subset of one size, or (0) of every size: Rscript lmsubsets.R <folder>. Reads X (column by column) and y, writes the
# median seconds of the calls, and the columns of every size on a line of their own.
folder <- commandArgs(trailingOnly = TRUE)[1]
library(lmSubsets)
size <- scan(file.path(folder, "size"), quiet = TRUE)
X <- matrix(readBin(file.path(folder, "X"), "double", size[1] * size[2]), size[1], size[2])
y <- readBin(file.path(folder, "y"), "double", size[1])
k <- size[3]
call <- function(repeat_) {
  calls <- 0
  started <- proc.time()[["elapsed"]]
  while (calls == 0 || proc.time()[["elapsed"]] - started < 0.01) {
    fit <- if (k > 0) lmSubsets_fit(X, y, nmin = k, nmax = k) else lmSubsets_fit(X, y)
    calls <- calls + 1
  }
  list(fit = fit, seconds = (proc.time()[["elapsed"]] - started) / calls)
}
runs <- lapply(seq_len(size[4]), call)
fit <- runs[[1]]$fit
sizes <- if (k > 0) k else seq_len(size[2])
columns <- sapply(sizes, function(one) paste(which(unlist(fit$subset[which(fit$submodel$SIZE == one), ])) - 1, collapse = " "))
seconds <- median(sapply(runs, function(run) run$seconds))
writeLines(c(format(seconds, digits = 6), columns), file.path(folder, "answer"))
