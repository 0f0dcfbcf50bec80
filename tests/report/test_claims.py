"""Claims: each holds on the published figures, fails on figures made up to break it, and is not judged without figures."""

import pytest

from headcount.report.claims import HOLDS, HOLDS_NOT, OPEN, claims, judged, published_claims
from headcount.report.evidence import Published


class Altered(Published):
    """The published figures, some of them changed."""

    def __init__(self, means=lambda key, measure, value: value, marks=lambda pair, method, mark: mark, bias=None):
        self._means, self._marks, self._bias = means, marks, bias

    def mean(self, key, measure):
        value = super().mean(key, measure)
        return None if value is None else self._means(key, measure, value)

    def mark(self, x, y, method, measure):
        return self._marks((x, y), method, super().mark(x, y, method, measure))

    def bias(self, key):
        return self._bias


def worse_when(chosen, factor=10.0):
    return Altered(lambda key, _, value: value * factor if chosen(*key) else value)


BROKEN = {
    "gain-where-imbalanced": worse_when(lambda d, m, learner, t: (m, learner, t) == ("PCC", "lr", "ae")),
    "quantification-loss-gains-more": worse_when(lambda d, m, learner, t: (m, learner, t) == ("ACC", "svm", "ae")),
    "no-gain-where-balanced": worse_when(lambda d, m, learner, t: d == "imdb" and t == "none"),
    "ae-beats-accuracy": Altered(marks=lambda pair, m, mark: "~" if (pair, m) == (("ae", "accuracy"), "CC") else mark),
    "ae-beats-defaults": Altered(marks=lambda pair, m, mark: "<" if (pair, m) == (("ae", "none"), "PACC") else mark),
    "ae-or-f1-is-open": Altered(marks=lambda pair, m, mark: ">" if pair == ("ae", "f1") else mark),
    "pacc-prefers-ae": Altered(marks=lambda pair, m, mark: "~" if (pair, m) == (("ae", "f1"), "PACC") else mark),
    "pacc-is-strongest": worse_when(lambda d, m, learner, t: m == "PACC"),
    "majority-bias-until-adjusted": Altered(bias=0.1),
    "sld-and-hdy-on-top": worse_when(lambda d, m, learner, t: m == "SLD"),
    "many-do-not-beat-cc": worse_when(lambda d, m, learner, t: m.startswith("SVM("), 0.1),
    "others-lose-ranks": worse_when(lambda d, m, learner, t: m in ("CC", "ACC", "PCC", "PACC") and t == "ae"),
    "cc-and-acc-climb": worse_when(lambda d, m, learner, t: m in ("CC", "ACC") and t == "ae"),
    "cnn-least-sensitive": worse_when(lambda d, m, learner, t: learner == "cnn" and t == "none"),
}


def test_every_claim_holds_on_the_published_figures():
    assert {claim.name: (claim.verdict, claim.why) for claim in published_claims() if claim.verdict != HOLDS} == {}
    assert all(claim.figures for claim in published_claims())


def test_every_claim_has_figures_that_break_it():
    assert set(BROKEN) == {claim.name for claim in published_claims()}


@pytest.mark.parametrize("name", BROKEN)
def test_claim_does_not_hold_on_figures_made_up_to_break_it(name):
    (claim,) = (claim for claim in judged(BROKEN[name]) if claim.name == name)
    assert claim.verdict == HOLDS_NOT, claim.why


def test_claims_cannot_be_judged_without_figures():
    nothing = Altered(means=lambda key, measure, value: None, marks=lambda pair, method, mark: None)
    assert {claim.verdict for claim in judged(nothing)} == {OPEN}


def test_claims_that_need_more_data_sets_cannot_be_judged_on_one():
    balanced = Altered(lambda key, measure, value: value if key[0] == "imdb" else None)
    verdicts = {claim.name: claim.verdict for claim in judged(balanced)}
    assert verdicts["gain-where-imbalanced"] == OPEN
    assert verdicts["majority-bias-until-adjusted"] == OPEN
    assert verdicts["no-gain-where-balanced"] == HOLDS


def test_claims_of_a_study_name_their_files_and_the_published_verdict(study_results):
    made = {claim.name: claim for claim in claims(study_results)}
    assert {claim.published for claim in made.values()} == {HOLDS}
    assert made["cnn-least-sensitive"].verdict == OPEN
    gain = made["gain-where-imbalanced"]
    assert gain.verdict in (HOLDS, HOLDS_NOT)
    cells = [c for c in study_results.cells if (c.data_set, c.method, c.target) == ("uneven", "CC", "ae")]
    means = [c.errors("ae", 40).mean() for c in cells if c.learner in ("svm", "lr")]
    (figure,) = (figure for figure in gain.figures if figure.label == "CC, for AE")
    assert figure.value == pytest.approx(sum(means) / 2)
    assert len(figure.files) == 2
    assert all((study_results.store.folder / name).is_file() for name in figure.files)


def only(chosen):
    return Altered(
        lambda key, measure, value: value if chosen(*key) else None,
        lambda pair, method, mark: mark if method == "CC" else None,
    )


@pytest.mark.parametrize(
    ("chosen", "left_open"),
    [
        (
            lambda d, m, learner, t: m == "CC" and learner == "lr",
            ["gain-where-imbalanced", "quantification-loss-gains-more", "ae-beats-accuracy", "ae-beats-defaults"],
        ),
        (lambda d, m, learner, t: m in ("SLD", "HDy"), ["sld-and-hdy-on-top"]),
        (lambda d, m, learner, t: learner != "cnn" or d == "imdb", ["cnn-least-sensitive"]),
        (lambda d, m, learner, t: learner == "mnb", ["majority-bias-until-adjusted"]),
        (lambda d, m, learner, t: t != "none" or m == "MLPE", ["others-lose-ranks", "cc-and-acc-climb", "no-gain-where-balanced"]),
    ],
)  # fmt: skip
def test_claims_do_not_hold_on_a_part_of_the_figures(chosen, left_open):
    verdicts = {claim.name: (claim.verdict, claim.why) for claim in judged(only(chosen))}
    assert {name: verdicts[name] for name in left_open if verdicts[name][0] != OPEN} == {}


def test_one_counterexample_refutes_a_claim():
    evidence = only(lambda d, m, learner, t: m == "CC")
    evidence._means = lambda key, measure, value: 1.0 if key[3] == "ae" else value if key[1] == "CC" else None
    verdicts = {claim.name: claim.verdict for claim in judged(evidence)}
    assert verdicts["gain-where-imbalanced"] == HOLDS_NOT


def test_error_of_zero_at_defaults_does_not_crash():
    verdicts = judged(Altered(lambda key, measure, value: 0.0 if key[3] == "none" else value))
    assert {claim.name: claim.verdict for claim in verdicts}["no-gain-where-balanced"] == HOLDS
