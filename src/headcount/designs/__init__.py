"""How items were drawn, in the words of survey sampling: weights, strata, clusters and the size of the population."""

from headcount.designs.design import SurveyDesign, check_design, population_of_strata
from headcount.designs.linearised import (
    ClusterErrors,
    DesignVariance,
    cluster_errors,
    linearised_covariance,
    mean_design_effect,
)
from headcount.designs.mean import SurveyMean, survey_mean
from headcount.designs.moments import DesignMoments

__all__ = [
    "ClusterErrors",
    "DesignMoments",
    "DesignVariance",
    "SurveyDesign",
    "SurveyMean",
    "check_design",
    "cluster_errors",
    "linearised_covariance",
    "mean_design_effect",
    "population_of_strata",
    "survey_mean",
]
