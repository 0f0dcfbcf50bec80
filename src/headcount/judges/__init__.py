"""Class shares from the answers of judges, such as language models, and human labels of some items drawn at random.

Answers of any judges about any classes become predictors of `headcount.model_assisted`, which makes the estimates; here are the
judges themselves: what they answered, how often they are right, which of them help. Nothing here reads files.
"""

from headcount.judges.answers import AnswerMap, JudgeAnswers, read_answers
from headcount.judges.correction import JudgeCorrection
from headcount.judges.reports import JudgeReport
from headcount.judges.result import CorrectedGroup, JudgedShares

__all__ = [
    "AnswerMap",
    "CorrectedGroup",
    "JudgeAnswers",
    "JudgeCorrection",
    "JudgeReport",
    "JudgedShares",
    "read_answers",
]
