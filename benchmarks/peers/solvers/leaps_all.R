# regsubsets for all sizes up to nvmax at once, and for each size by itself: Rscript leaps_all.R <folder>. Reads X (column by column)
# and y, writes the columns and the residual sum of squares of every size, and the seconds of every call.
folder <- commandArgs(trailingOnly = TRUE)[1]
library(leaps)
size <- scan(file.path(folder, "leaps.size"), quiet = TRUE)
X <- matrix(readBin(file.path(folder, "leaps.X"), "double", size[1] * size[2]), size[1], size[2])
y <- readBin(file.path(folder, "leaps.y"), "double", size[1])
clock <- function() if (size[5] == 1) sum(proc.time()[1:2]) else proc.time()[["elapsed"]]
call <- function(nvmax) {
  # The clock has steps of a millisecond, so a short call is repeated until ten of them are over.
  calls <- 0
  started <- clock()
  while (calls == 0 || clock() - started < 0.01) {
    fit <- suppressWarnings(regsubsets(
      x = X, y = y, nvmax = nvmax, nbest = 1, method = "exhaustive", intercept = FALSE, really.big = TRUE
    ))
    calls <- calls + 1
  }
  list(fit = fit, seconds = (clock() - started) / calls)
}
runs <- lapply(seq_len(size[4]), function(repeat_) lapply(seq_len(size[3]), call))
answer <- summary(runs[[1]][[size[3]]]$fit)
write.table(cbind(answer$rss, answer$which * 1), file.path(folder, "leaps.answer"), row.names = FALSE, col.names = FALSE)
seconds <- sapply(runs, function(run) sapply(run, function(one) one$seconds))
write.table(matrix(seconds, nrow = size[3]), file.path(folder, "leaps.seconds"), row.names = FALSE, col.names = FALSE)
