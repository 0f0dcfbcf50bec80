"""The paper's conclusions as checks: each is judged by a stated rule on a study's figures, and on the published ones beside."""

from dataclasses import replace

from headcount.report.claims import optimisation, standing
from headcount.report.claims.claim import CHECKS, HOLDS, HOLDS_NOT, OPEN, Claim, Figure
from headcount.report.evidence import Evidence, Measured, Published
from headcount.report.figures import Errors
from headcount.study import Results

__all__ = [
    "HOLDS",
    "HOLDS_NOT",
    "OPEN",
    "Claim",
    "Figure",
    "claims",
    "judged",
    "optimisation",
    "published_claims",
    "standing",
]


def claims(results: Results, errors: Errors | None = None) -> list[Claim]:
    """Return the paper's conclusions, judged by a study's figures, with the verdicts on the published figures beside."""
    errors = Errors(results) if errors is None else errors
    beside = {claim.name: claim.verdict for claim in published_claims()}
    return [replace(claim, published=beside[claim.name]) for claim in judged(Measured(errors, results))]


def published_claims() -> list[Claim]:
    """Return the paper's conclusions, judged by its own figures."""
    return judged(Published())


def judged(evidence: Evidence) -> list[Claim]:
    """Return all conclusions, judged by what there is."""
    made = []
    for name, says, rule, check in CHECKS:
        holds, why, figures = check(evidence)
        made.append(Claim(name, says, rule, OPEN if holds is None else HOLDS if holds else HOLDS_NOT, why, figures))
    return made
