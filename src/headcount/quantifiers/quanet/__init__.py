"""QuaNet: a recurrent network that reads a sample's items in the order of their posteriors. torch is imported when it is used."""

from headcount.quantifiers.quanet.quantifier import QuaNet

__all__ = ["QuaNet"]
