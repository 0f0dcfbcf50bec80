# Means, standard errors, design effects and degrees of freedom by R's survey package, of the items in survey_items.csv.
#
#     Rscript tests/designs/survey_reference.R > tests/designs/survey_reference.csv
#
# Design effects are those against sampling with replacement. A stratum with one cluster is centred at all clusters ("adjust").
suppressPackageStartupMessages(library(survey))
options(survey.lonely.psu = "adjust", digits = 15)

folder <- dirname(sub("--file=", "", grep("--file=", commandArgs(FALSE), value = TRUE)))
items <- read.csv(file.path(folder, "survey_items.csv"))
items$one <- 1
items$all_clusters <- sum(tapply(items$stratum_clusters, items$stratum, function(x) x[1]))
items$all_items <- sum(tapply(items$stratum_items, items$stratum, function(x) x[1]))
not_lonely <- items[items$stratum != "isle", ]

designs <- list(
  equal = svydesign(ids = ~1, weights = ~one, data = items),
  weights = svydesign(ids = ~1, weights = ~weight, data = items),
  clusters = svydesign(ids = ~cluster, weights = ~one, data = items),
  weights_clusters = svydesign(ids = ~cluster, weights = ~weight, data = items),
  strata = svydesign(ids = ~1, strata = ~stratum, weights = ~weight, data = items),
  strata_clusters = svydesign(ids = ~cluster, strata = ~stratum, weights = ~weight, data = not_lonely),
  lonely_cluster = svydesign(ids = ~cluster, strata = ~stratum, weights = ~weight, data = items),
  population_of_items = svydesign(ids = ~1, weights = ~weight, fpc = ~all_items, data = items),
  strata_of_items = svydesign(ids = ~1, strata = ~stratum, weights = ~weight, fpc = ~stratum_items, data = items),
  population_of_clusters = svydesign(ids = ~cluster, weights = ~weight, fpc = ~all_clusters, data = items),
  strata_of_clusters = svydesign(ids = ~cluster, strata = ~stratum, weights = ~weight, fpc = ~stratum_clusters, data = items)
)
cat("design,column,mean,standard_error,design_effect,degrees\n")
for (name in names(designs)) {
  for (column in c("value", "success")) {
    found <- svymean(as.formula(paste0("~", column)), designs[[name]], deff = "replace")
    cat(sprintf("%s,%s,%.12g,%.12g,%.12g,%d\n", name, column, coef(found), SE(found), deff(found), degf(designs[[name]])))
  }
}
