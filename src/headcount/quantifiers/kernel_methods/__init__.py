"""Methods over kernels of posteriors, or distances between them: KDEy-ML, KDEy-CS, KDEy-HD, EDy and MMDy."""

from headcount.quantifiers.kernel_methods.cvmy import CvMy
from headcount.quantifiers.kernel_methods.edy import EDy
from headcount.quantifiers.kernel_methods.kdey_cs import KDEyCS
from headcount.quantifiers.kernel_methods.kdey_hd import KDEyHD
from headcount.quantifiers.kernel_methods.kdey_ml import KDEyML
from headcount.quantifiers.kernel_methods.mmdy import MMDy

__all__ = ["CvMy", "EDy", "KDEyCS", "KDEyHD", "KDEyML", "MMDy"]
