"""Simulations of one cell: draw labelled items, fit everything, draw the target, and count what holds."""

import time
import warnings
from collections import defaultdict
from contextlib import suppress
from typing import Any
from zlib import crc32

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

import headcount as hc
from benchmarks.coverage.cell import Cell
from benchmarks.coverage.learners import forget, make_classifier
from headcount.exceptions import DataError

CHECKED = 100
"""Simulations of a cell, from the first, in which the check is made too."""
VACUOUS = 0.95
"""Width above which an interval says nothing."""
ON_FEATURES = ("DMx", "EDx", "HDx")
"""Methods that have no classifier."""
Sums = dict[str, dict[str, Any]]


def block(cell: Cell, seed: int, first: int, n: int) -> dict[str, Any]:
    """Return sums over simulations ``first`` to ``first + n - 1``, by method; each simulation has a generator of its own."""
    start = time.perf_counter()
    sums: Sums = defaultdict(lambda: defaultdict(float))
    one = {
        "estimate": _estimates,
        "difference": _differences,
        "family": _families,
        "stability": _stability,
        "rename": _rename,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(first, first + n):
            generator = np.random.default_rng([seed, crc32(cell.name.encode()), i])
            forget()
            cell.world.start(generator)
            one[cell.kind](cell, generator, i, sums)
    plain = {m: {f: v.tolist() if isinstance(v, np.ndarray) else v for f, v in s.items()} for m, s in sums.items()}
    return {"simulations": n, "seconds": time.perf_counter() - start, "methods": plain}


def draw_codes(n: int, shares: Any, generator: np.random.Generator) -> Any:
    return generator.choice(len(shares), n, p=shares)


def labelled_items(cell: Cell, generator: np.random.Generator) -> tuple[Any, Any]:
    y = generator.permutation(np.repeat(np.arange(len(cell.shares)), cell.labelled_counts))
    return cell.world.draw(y, generator), y


def make_quantifier(method: str, cell: Cell, seed: int, validation: Any = None) -> Any:
    scorer = cell.world.scorer()
    classifier = make_classifier(cell.learner) if scorer is None else scorer
    settings: dict[str, Any] = {}
    if cell.validation is not None:
        settings["validation"] = cell.validation
    if validation is not None:
        settings["validation"] = validation
    if method in ON_FEATURES:
        return getattr(hc, method)()
    if method == "SLD plain":
        return hc.SLD(classifier, prior="uniform") if scorer is not None else hc.SLD(classifier)
    if method in ("CC", "PCC"):
        return getattr(hc, method)(classifier)
    if method.startswith("SLD "):
        return hc.SLD(classifier, calibration=method.removeprefix("SLD "), random_state=seed, **settings)
    return getattr(hc, method)(classifier, random_state=seed, **settings)


def make_estimate(method: str, q: Any, X: Any, cell: Cell, samples: Any = None) -> Any:
    options: dict[str, Any] = {"level": cell.level, "estimand": cell.estimand}
    if cell.interval == "bootstrap":
        options |= {"method": "bootstrap", "n_replicates": 400, "random_state": 0}
    if method != "SLD plain":
        return hc.estimate(q, X, samples, **options)
    try:
        return hc.estimate(q, X, samples, assume="calibrated", **options)
    except DataError as error:  # versions before assume="calibrated" took this for granted
        if "assume must be one of" not in str(error):
            raise
        return hc.estimate(q, X, samples, **options)


def _fitted(cell: Cell, generator: np.random.Generator, i: int, sums: Sums) -> dict[str, Any]:
    X, y = labelled_items(cell, generator)
    fitted = {}
    for method in cell.methods:
        with _Recorded(sums[method]):
            fitted[method] = make_quantifier(method, cell, i).fit(X, y)
    return fitted


class _Recorded:
    """Count what is refused with a sentence, and what is raised, instead of stopping."""

    def __init__(self, sums: dict[str, Any]) -> None:
        self.sums = sums

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if not isinstance(error, Exception):
            return error is None
        what = "refused" if isinstance(error, DataError) else "raised"
        self.sums[what] += 1
        self.sums[f"{what}_reason"] = f"{type(error).__name__}: {error}"[:300]
        return True


def _estimates(cell: Cell, generator: np.random.Generator, i: int, sums: Sums) -> None:
    fitted = _fitted(cell, generator, i, sums)
    shares = np.array(cell.shares)
    if cell.estimand == "population":
        codes = draw_codes(cell.target, shares, generator)
    else:
        codes = np.repeat(np.arange(len(shares)), np.round(shares * cell.target).astype(int))
    X = cell.world.draw(codes, generator)
    for method, q in fitted.items():
        with _Recorded(sums[method]):
            answer = make_estimate(method, q, X, cell)
            s = sums[method]
            held = (answer.low <= shares + 1e-12) & (shares - 1e-12 <= answer.high)
            _add_interval(s, answer, held)
            if answer.shares.size > 2:
                with suppress(DataError):  # a method may have intervals and no region
                    s["joint"] += bool(answer.contains(shares))
                    s["joint_n"] += 1
            s["error"] += np.abs(answer.shares - shares)
            if i < CHECKED and cell.check and method not in ("CC", "PCC", "SLD plain"):
                verdict = _verdict(q, X)
                s["checked"] += verdict is not None
                s["alarm"] += verdict in ("caution", "do not trust")
                if verdict == "trust":
                    s["trust"] += 1
                    s["held_trust"] += held
    if cell.auc:
        _count_informative(cell, generator, fitted, sums)


def _add_interval(s: dict[str, Any], answer: Any, held: Any) -> None:
    width = answer.high - answer.low
    s["n"] += 1
    s["held"] += held
    s["width"] += width
    s["vacuous"] += width > VACUOUS
    s["zero"] += width < 1e-9
    s["last_vacuous"] = float((width > VACUOUS).any())
    at_end = ((answer.shares <= answer.low + 1e-9) & (answer.low > 0)) | (
        (answer.shares >= answer.high - 1e-9) & (answer.high < 1)
    )
    s["at_end"] += at_end.any()


def _verdict(q: Any, X: Any) -> str | None:
    try:
        verdict: str = hc.checks.check(q, X).verdict
    except DataError:
        return None
    return None if verdict == "not checked" else verdict


def _count_informative(cell: Cell, generator: np.random.Generator, fitted: dict[str, Any], sums: Sums) -> None:
    """Count vacuous intervals among the simulations whose classifier has the AUC above which they must be rare."""
    codes = np.tile(np.arange(cell.world.k), 150)
    X = cell.world.draw(codes, generator)
    for method, q in fitted.items():
        P = q.outputs(X).posteriors if method != "ACC" else fitted["PACC"].outputs(X).posteriors
        auc = np.mean([roc_auc_score(codes == c, P[:, c]) for c in range(cell.world.k)])
        s = sums[method]
        s["auc"] += auc
        if auc > cell.auc:
            s["informative"] += 1
            s["informative_vacuous"] += s["last_vacuous"]


def _differences(cell: Cell, generator: np.random.Generator, i: int, sums: Sums) -> None:
    fitted = _fitted(cell, generator, i, sums)
    second = cell.shares if cell.second is None else cell.second
    truth = np.array(second) - np.array(cell.shares)
    X, Z = (cell.world.draw(draw_codes(cell.target, p, generator), generator) for p in (cell.shares, second))
    for method, q in fitted.items():
        with _Recorded(sums[method]):
            answer = hc.difference(make_estimate(method, q, X, cell), make_estimate(method, q, Z, cell))
            s = sums[method]
            s["n"] += 1
            s["held"] += (answer.low <= truth + 1e-12) & (truth - 1e-12 <= answer.high)
            s["width"] += answer.high - answer.low
            s["rejected"] += answer.p_value < 0.05
            s["tiny"] += answer.p_value < 1e-6


def family_p_values(method: str, q: Any, X: Any, cell: Cell, months: int) -> Any:
    """Return the p-values of a family of comparisons, corrected where the version at hand can."""
    size = cell.target
    samples = np.arange(months * size).reshape(months, size)
    estimates = make_estimate(method, q, X, cell, samples)
    compare = getattr(hc, "differences", None)
    if compare is not None:
        return np.asarray(compare(estimates, cell.family_kind).p_value)
    first = [0] * (months - 1) if cell.family_kind == "first" else list(range(months - 1))
    pairs = zip(first, range(1, months), strict=True)
    return np.array([hc.difference(estimates.take(a), estimates.take(b)).p_value for a, b in pairs])


def _families(cell: Cell, generator: np.random.Generator, i: int, sums: Sums) -> None:
    fitted = _fitted(cell, generator, i, sums)
    codes = draw_codes(12 * cell.target, cell.shares, generator)
    X = cell.world.draw(codes, generator)
    for method, q in fitted.items():
        with _Recorded(sums[method]):
            p = family_p_values(method, q, X, cell, 12)
            sums[method]["n"] += 1
            sums[method]["any"] += bool(p.min() < 0.05)


def _stability(cell: Cell, generator: np.random.Generator, _: int, sums: Sums) -> None:
    """Fit on the same labelled items with ten seeds: the deviation of the shares over seeds as a part of the interval's width."""
    X, y = labelled_items(cell, generator)
    Z = cell.world.draw(draw_codes(cell.target, cell.shares, generator), generator)
    for method in cell.methods:
        with _Recorded(sums[method]):
            answers = [
                make_estimate(method, make_quantifier(method, cell, seed).fit(X, y), Z, cell) for seed in range(10)
            ]
            deviation = np.std([a.shares for a in answers], axis=0, ddof=1)
            width = np.mean([a.high - a.low for a in answers], axis=0)
            s = sums[method]
            s["n"] += 1
            s["deviation"] += deviation
            s["width"] += width
            s["ratio"] += deviation / width
            s["held"] += np.mean([(a.low <= cell.shares) & (cell.shares <= a.high) for a in answers], axis=0)


def _rename(cell: Cell, generator: np.random.Generator, i: int, sums: Sums) -> None:
    """Fit with labels in the opposite order, on the same folds: the shares must be the same ones in the opposite order."""
    X, y = labelled_items(cell, generator)
    Z = cell.world.draw(draw_codes(cell.target, cell.shares, generator), generator)
    split = KFold(5, shuffle=True, random_state=i)  # not stratified: does not look at the labels
    for method in cell.methods:
        with _Recorded(sums[method]):
            a, b = (
                make_quantifier(method, cell, i, split).fit(X, labels).predict(Z)
                for labels in (y, cell.world.k - 1 - y)
            )
            s = sums[method]
            s["n"] += 1
            s["changed"] = max(s["changed"], float(np.abs(a - b[::-1]).max()))
