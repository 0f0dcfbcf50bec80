"""QuaNet, a recurrent network that reads the items of a sample; torch is imported when it is fitted or used."""

from headcount.quantifiers.quanet.quantifier import QuaNet

__all__ = ["QuaNet"]
