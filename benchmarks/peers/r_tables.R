# Tables of Debian's R packages as CSV, the response first: Rscript r_tables.R LIBRARY OUT. The packages are not loaded.
arguments <- commandArgs(trailingOnly = TRUE)
pls <- new.env()
lazyLoad(file.path(arguments[1], "pls", "data", "Rdata"), envir = pls)
caret <- new.env()
for (name in c("tecator", "BloodBrain", "cox2"))
  load(file.path(arguments[1], "caret", "data", paste0(name, ".RData")), envir = caret)
tables <- list(
  gasoline = cbind(pls$gasoline$octane, unclass(pls$gasoline$NIR)),
  yarn = cbind(pls$yarn$density, unclass(pls$yarn$NIR)),
  tecator = cbind(caret$endpoints[, 2], caret$absorp),
  bloodbrain = cbind(caret$logBBB, data.matrix(caret$bbbDescr)),
  cox2 = cbind(log(caret$cox2IC50), data.matrix(caret$cox2Descr))
)
for (name in names(tables))
  write.table(format(tables[[name]], digits = 17, trim = TRUE), file.path(arguments[2], paste0(name, ".csv")),
    sep = ",", quote = FALSE, row.names = FALSE, col.names = FALSE)
