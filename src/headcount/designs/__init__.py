"""How items were drawn, in the words of survey sampling: weights, strata, clusters and the size of the population."""

from headcount.designs.design import SurveyDesign
from headcount.designs.linearised import DesignVariance, linearised_covariance, mean_design_effect

__all__ = ["DesignVariance", "SurveyDesign", "linearised_covariance", "mean_design_effect"]
