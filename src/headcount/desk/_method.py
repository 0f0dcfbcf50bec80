"""What desk must know of a method besides its name, until `Method` itself says so."""

from headcount.exceptions import DataError
from headcount.quantifiers import ELM, SLD, QuaNet, Quantifier, method_named

__all__ = ["quantifier_for_scores", "quantifier_for_tables"]


def quantifier_for_tables(name: str) -> Quantifier:
    """Unfitted quantifier of a method, with the settings that the commands use."""
    method = method_named(name)  # to become: return method_named(name).for_tables()
    return SLD(calibration="bcts") if method.quantifier is SLD else method.make()


def quantifier_for_scores(name: str) -> Quantifier:
    """Unfitted quantifier of a method that works on the scores or decisions of any classifier."""
    method = method_named(name)
    if issubclass(method.quantifier, ELM | QuaNet):  # to become: if method.brings_learner
        raise DataError(
            f"{method.name} trains its own classifier, so it can't use the scores of another one: choose a method that can, "
            "such as PACC."
        )
    return quantifier_for_tables(name)
