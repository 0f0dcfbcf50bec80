"""Methods that look at the items' own features: histograms, distances, patterns of words. None needs a classifier."""

from headcount.quantifiers.on_features.dmx import DMx
from headcount.quantifiers.on_features.edx import EDx
from headcount.quantifiers.on_features.hdx import HDx
from headcount.quantifiers.on_features.readme import ReadMe

__all__ = ["DMx", "EDx", "HDx", "ReadMe"]
