"""The paper's conclusions as checks: each is judged by a stated rule, on a study's figures and on the published ones."""

from dataclasses import replace

from headcount.report.claims import optimisation, standing
from headcount.report.claims.claim import CHECKS, HOLDS, HOLDS_NOT, OPEN, Claim, Figure
from headcount.report.evidence import Evidence, Published
from headcount.report.scores import Errors
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
    """Return the paper's conclusions judged by a study's figures, each with its verdict on the published figures."""
    errors = Errors(results) if errors is None else errors
    published = {claim.name: claim.verdict for claim in published_claims()}
    return [replace(claim, published=published[claim.name]) for claim in judged(errors)]


def published_claims() -> list[Claim]:
    """Return the paper's conclusions judged by its own figures."""
    return judged(Published())


def judged(evidence: Evidence) -> list[Claim]:
    """Return all conclusions, judged by the evidence."""
    verdicts = {True: HOLDS, False: HOLDS_NOT, None: OPEN}
    judged_claims = []
    for name, says, rule, check in CHECKS:
        holds, why, figures = check(evidence)
        judged_claims.append(Claim(name, says, rule, verdicts[None if holds is None else bool(holds)], why, figures))
    return judged_claims
