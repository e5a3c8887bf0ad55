# Exhaustive best subsets by leaps and bounds: Rscript leaps.R <folder>. Reads X (column by column) and y, writes the columns of
# the best subset of every size and the seconds of the call.
folder <- commandArgs(trailingOnly = TRUE)[1]
library(leaps)
size <- scan(file.path(folder, "leaps.size"), quiet = TRUE)
X <- matrix(readBin(file.path(folder, "leaps.X"), "double", size[1] * size[2]), size[1], size[2])
y <- readBin(file.path(folder, "leaps.y"), "double", size[1])
started <- proc.time()[["elapsed"]]
fit <- regsubsets(x = X, y = y, nvmax = size[3], nbest = 1, method = "exhaustive", intercept = FALSE, really.big = TRUE)
seconds <- proc.time()[["elapsed"]] - started
which <- summary(fit)$which
write.table(which * 1, file.path(folder, "leaps.which"), row.names = FALSE, col.names = FALSE)
write(seconds, file.path(folder, "leaps.seconds"))
