"""False alarms and delays of `headcount.monitor`, by simulation and on real reviews by week: `python -m benchmarks.watch`.

Parts: ``alarms`` (10,000 looks at unchanged streams), ``delays`` (a move by 5 points), ``items`` (the check of the items),
``reviews`` (amazon_devices by week). Labelled items are drawn again in each simulation; many simulations are computed at once, by
the process that `Monitor` runs.
"""

import sys
import time
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

import headcount as hc
from benchmarks._watch_kernel import batch_sums, first_alarm, misses
from headcount._distributions import normal_quantile, normal_tail
from headcount.checks.label_shift import labelled_scores
from headcount.monitor import Monitor, MoveProcess, ShareScores
from headcount.monitor.cell_blocks import CellBlocks
from headcount.monitor.sequence import labelled_radius

CELLS, LABELLED, MOVE, LEVEL, FIRST = 24, 2_000, 0.05, 0.95, 2_000
EDGES = np.concatenate([[-np.inf], np.linspace(-3.0, 3.0, CELLS - 1), [np.inf]])
ALPHA_OF_SHARES = 0.7 * (1.0 - LEVEL)
"""What a monitor with a reference, or bands, and a check of the items spends on shares."""


class CellClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose items are one of the cells of a score."""

    def __init__(self, posteriors: Any = None) -> None:
        self.posteriors = posteriors

    def fit(self, X: Any, y: Any) -> "CellClassifier":
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> Any:
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> Any:
        P1 = np.asarray(self.posteriors)[np.asarray(X)[:, 0].astype(int)]
        return np.column_stack([1.0 - P1, P1])


@dataclass(frozen=True)
class World:
    """Scores are normal with variance 1, their means so far apart; posteriors are those of equal shares, or wrong by a factor."""

    method: str
    share: float
    apart: float
    labelled_share: float = 0.5
    factor: float = 1.0
    sizes: tuple[int, int] = (10, 200)

    @property
    def title(self) -> str:
        factor = "" if self.factor == 1.0 else f", logits x {self.factor:g}"
        return (
            f"{self.method}, share {self.share:g}, accuracy {1 - normal_tail(self.apart / 2):.2f}{factor}, "
            f"labelled {self.labelled_share:g}"
        )

    @cached_property
    def profiles(self) -> Any:
        """Frequencies of the cells, a row a class."""
        means = np.array([[-self.apart / 2], [self.apart / 2]])
        return np.diff(1.0 - normal_tail(EDGES - means), axis=1)

    def quantifier(self) -> Any:
        f = self.profiles
        logits = self.factor * (np.log(f[1] + 1e-12) - np.log(f[0] + 1e-12))
        classifier = FrozenEstimator(CellClassifier(1.0 / (1.0 + np.exp(-logits))).fit(None, None))
        if self.method == "SLD":
            return hc.SLD(classifier, calibration="bcts")
        return getattr(hc, self.method)(classifier)

    def labelled(self, generator: np.random.Generator) -> Any:
        """Fit the method on other labelled items."""
        y = (generator.random(LABELLED) < self.labelled_share).astype(int)
        drawn = [generator.choice(CELLS, LABELLED, p=profile) for profile in self.profiles]
        cells = np.where(y == 1, drawn[1], drawn[0])
        return self.quantifier().fit(cells[:, None], y)

    def counts(self, generator: np.random.Generator, n: int, share: float, simulations: int) -> Any:
        """Draw the items of a batch in each simulation, as counts in cells."""
        return generator.multinomial(n, np.array([1.0 - share, share]) @ self.profiles, size=simulations)


WORLDS = (
    World("PACC", 0.3, 2.0),
    World("PACC", 0.3, 2.0, 0.3, 0.5, (10, 10)),
    World("PACC", 0.5, 1.5),
    World("PACC", 0.05, 2.5, 0.2),
    World("PACC", 0.02, 4.0, 0.1, 1.0, (10, 10)),
    World("ACC", 0.3, 2.0),
    World("ACC", 0.1, 3.0, 0.5, 1.0, (10, 50)),
    World("SLD", 0.3, 2.0, 0.5, 0.7),
    World("SLD", 0.1, 2.5, 0.3),
)


@dataclass
class Streams:
    """What is learnt from the labelled items of each simulation."""

    scores: list[ShareScores]
    values: Any
    variance: Any
    errors: Any

    @classmethod
    def of(cls, world: World, simulations: int, seed: int) -> "Streams":
        p, cells = np.array([1.0 - world.share, world.share]), np.arange(CELLS)[:, None]
        scores, values, variances, errors = [], [], [], []
        for s in range(simulations):
            quantifier = world.labelled(np.random.default_rng([seed, s]))
            one = ShareScores.of(quantifier, p)
            values.append(one.of_items(quantifier.outputs(cells))[:, 1] - world.share)
            variances.append(one.variance(p, MOVE)[1])
            errors.append(one.error_variance(p)[1])
            scores.append(one)
        return cls(scores, np.array(values), np.array(variances), np.array(errors))

    def fixed_size(self) -> float:
        """Items of a fixed test at 5 % with 80 % power, the labelled items' error counted; infinite if there is no such number."""
        errors = float(np.median(self.errors))

        def spread(p: Any) -> float:
            return float(np.median([p @ one.spread[:, 1] + p[1] * (1.0 - p[1]) for one in self.scores]))

        share = self.scores[0].inside[1]
        before, after = (spread(np.array([1.0 - p, p])) for p in (share, share + MOVE))

        def lacking(log_n: float) -> float:
            n = np.exp(log_n)
            return float(1.959964 * np.sqrt(before / n + errors) + 0.841621 * np.sqrt(after / n + errors) - MOVE)

        return float(np.exp(brentq(lacking, 0.0, 20.0))) if lacking(20.0) < 0 else np.inf


def false_alarms(looks: int = 10_000, simulations: int = 2_000, worlds: Any = WORLDS) -> None:
    """Unchanged streams: alarms of a reference and of a band whose end is the share, and sequences that miss it, at any look."""
    print(f"{simulations:,} streams of {looks:,} looks each, {LABELLED:,} labelled items drawn again in each")
    print(f"largest difference between the compiled process and the monitor's: {_difference():.1e}")
    for world in worlds:
        seed, began = WORLDS.index(world), time.process_time()
        streams = Streams.of(world, simulations, seed)
        sizes = np.random.default_rng([seed, 1]).integers(world.sizes[0], world.sizes[1] + 1, looks)
        cumulated = np.cumsum(np.array([1.0 - world.share, world.share]) @ world.profiles)
        cumulated[-1] = 1.0
        radius, part = labelled_radius(2, (1.0 - LEVEL) / 2.0), normal_quantile(ALPHA_OF_SHARES / 2.0)
        nothing, counts = np.empty(0), dict.fromkeys(("reference", "band", "sequence", "fixed intervals"), 0)
        for s in range(simulations):
            v, errors = float(streams.variance[s]), float(streams.errors[s])
            sums = batch_sums(sizes, cumulated, streams.values[s], 10_000 * seed + s)
            logs = -np.log(ALPHA_OF_SHARES)
            counts["reference"] += first_alarm(sizes, sums, v, errors, MOVE, False, logs, nothing) >= 0
            # A band from 0 to the share: its variance is at most that of its upper end where shares are below one half.
            widened = sums - sizes * part * np.sqrt(errors)
            counts["band"] += first_alarm(sizes, widened, v, 0.0, MOVE, True, logs + np.log(2.0), nothing) >= 0
            sequence, fixed = misses(sizes, sums, v, v / MOVE**2, 1.0 - LEVEL, radius * np.sqrt(errors), errors)
            counts["sequence"] += sequence
            counts["fixed intervals"] += fixed
        rates = ", ".join(f"{name} {100 * count / simulations:.2f} %" for name, count in counts.items())
        n_text = "-".join(map(str, sorted(set(world.sizes))))
        print(f"{world.title}, batches of {n_text}: {rates} ({time.process_time() - began:.0f} s)", flush=True)


def _difference() -> float:
    """Compare the compiled process with `MoveProcess` over 400 looks."""
    generator, largest = np.random.default_rng(0), 0.0
    for one_sided, errors in ((False, 1e-4), (True, 0.0)):
        sizes, record = generator.integers(10, 200, 400), np.empty(400)
        sums = generator.normal(0.0, np.sqrt(0.3 * sizes)) + 0.03 * sizes * (np.arange(400) > 300)
        first_alarm(sizes, sums, 0.3, errors, MOVE, one_sided, 3.0, record)
        process = MoveProcess(np.array([0.3]), np.array([errors]), MOVE, one_sided)
        for look, (n, total) in enumerate(zip(sizes.tolist(), sums, strict=True)):
            process.update(n, np.array([total]))
            largest = max(largest, abs(float(process.log_evidence[0]) - record[look]))
    return largest


def delays(simulations: int = 2_000, worlds: Any = WORLDS, size: int = 25) -> None:
    """Median number of items from a move by 5 points to the alarm, against a fixed test's with 80 % power."""
    print(
        f"{simulations:,} streams in batches of {size}, {LABELLED:,} labelled items drawn again in each; moves by {MOVE:g}"
    )
    for world in worlds:
        seed = WORLDS.index(world)
        streams = Streams.of(world, simulations, seed)
        fixed = streams.fixed_size()
        texts = []
        for before in (0, 2_000, 20_000):
            parts = []
            for items_of_part, share in ((before, world.share), (int(8 * fixed), world.share + MOVE)):
                cumulated = np.cumsum(np.array([1.0 - share, share]) @ world.profiles)
                cumulated[-1] = 1.0
                parts.append((np.full(items_of_part // size, size), cumulated))
            sizes, first = np.concatenate([part for part, _ in parts]), np.full(simulations, np.inf)
            for s in range(simulations):
                sums = np.concatenate(
                    [
                        batch_sums(part, cumulated, streams.values[s], 100 * s + i)
                        for i, (part, cumulated) in enumerate(parts)
                    ]
                )
                v, errors = float(streams.variance[s]), float(streams.errors[s])
                look = first_alarm(sizes, sums, v, errors, MOVE, False, -np.log(ALPHA_OF_SHARES), np.empty(0))
                first[s] = (look + 1) * size if look >= 0 else np.inf
            after = first[first > before] - before
            delay, early = float(np.median(after)), (first <= before).mean()
            texts.append(f"after {before:,}: {delay:,.0f} ({delay / fixed:.2f} x, {100 * early:.1f} % before)")
        print(f"{world.title}: fixed test {fixed:,.0f}; {'; '.join(texts)}", flush=True)


def items(simulations: int = 400, blocks: int = 64) -> None:
    """Alarms of the check of the items, in unchanged streams and after a part of them is of another kind."""
    for world in (WORLDS[0], WORLDS[3]):
        alarms, found = 0, []
        for s in range(simulations):
            generator = np.random.default_rng([s, 3])
            quantifier = world.labelled(generator)
            cells = labelled_scores(quantifier, None).cells()
            outputs = quantifier.outputs(np.arange(CELLS)[:, None])
            codes, P = cells.representation.codes(outputs), outputs.posteriors
            for changed in (False, True):
                process, n = CellBlocks(cells), 0
                threshold = 1.0 / (0.2 * (1.0 - LEVEL))
                for _ in range(blocks):
                    counts = world.counts(generator, 500, world.share, 1)[0].astype(float)
                    if changed and n >= 5_000:
                        counts[CELLS // 2 - 1 : CELLS // 2 + 1] += generator.multinomial(25, [0.5, 0.5])
                    process.update(np.bincount(codes, counts, minlength=cells.n_cells), counts @ P)
                    n += 500
                    if process.evidence >= threshold:
                        break
                if process.evidence >= threshold:
                    if changed:
                        found.append(n - 5_000)
                    else:
                        alarms += 1
        print(
            f"items, {world.title}: {alarms} false alarms in {simulations} streams of {blocks * 500:,} items; 5 % unsure items "
            f"added after 5,000: found in {len(found)} of {simulations}, median after {np.median(found) if found else np.nan:,.0f}",
            flush=True,
        )


def reviews() -> None:
    """Amazon_devices by week, with labelled items of the first weeks, of all weeks at random, and of films (imdb).

    In random order nothing changes, so that all alarms are false.
    """
    import pandas as pd

    from headcount.data import load_set
    from headcount.data.sets import data_folder

    table = pd.read_csv(data_folder() / "amazon_devices" / "all.tsv.gz", sep="\t")
    table = table.dropna(subset=["date"])[lambda t: t.stars != 3].sort_values(["date", "row"], kind="stable")
    week = pd.to_datetime(table.date).dt.strftime("%G-W%V").to_numpy()
    texts, y = table.text.astype(str).to_numpy(), (table.stars > 3).to_numpy().astype(int)
    early = (table.date < "2016-04-01").to_numpy()
    drawn = np.isin(np.arange(len(y)), np.random.default_rng(0).permutation(len(y))[:6_000])
    films, _ = load_set("imdb")
    cases = {
        "labelled: before April 2016": (texts[early], y[early], ~early, "labelled", False),
        "labelled: drawn from all weeks": (texts[drawn], y[drawn], ~drawn, "labelled", False),
        "labelled: drawn from all weeks, the others in random order": (
            texts[drawn],
            y[drawn],
            ~drawn,
            "labelled",
            True,
        ),
        "labelled: films": (
            np.asarray(films.items),
            (np.asarray(films.labels) == films.classes[1]).astype(int),
            ~early,
            f"first {FIRST} items",
            False,
        ),
    }
    order = np.random.default_rng(1).permutation(np.flatnonzero(~drawn))
    texts_of_none, y_of_none = texts.copy(), y.copy()
    texts_of_none[~drawn], y_of_none[~drawn] = texts[order], y[order]
    for title, (labelled, labels, chosen, reference, is_shuffled) in cases.items():
        texts_read, truths = (texts_of_none, y_of_none) if is_shuffled else (texts, y)
        classifier = make_pipeline(hc.TermWeights(), hc.NewtonLogisticRegression())
        quantifier = hc.PACC(classifier, random_state=0).fit(labelled, labels)
        outputs, truth, weeks = quantifier.outputs(texts_read[chosen]), truths[chosen], week[chosen]
        monitor, first = (
            Monitor(quantifier, reference=reference),
            hc.estimate(quantifier, outputs.take(np.arange(FIRST))),
        )
        off, n, checked = [], 0, 0
        for name in dict.fromkeys(weeks):
            rows = np.flatnonzero(weeks == name)
            monitor.update(outputs.take(rows), batch_id=name)
            answer, n = hc.estimate(quantifier, outputs.take(rows)), n + len(rows)
            if reference == "labelled":
                checked, differs = checked + 1, not answer.low[1] <= labels.mean() <= answer.high[1]
            elif n > FIRST:
                checked, differs = checked + 1, bool(hc.difference(first, answer).p_value[1] < 0.05)
            else:
                continue
            off += [name] if differs else []
        raised = [(a.kind, a.batch, a.since, a.text[:90]) for a in monitor.alarms]
        print(
            f"{title} ({len(labels):,}, {labels.mean():.3f} positive): {len(set(weeks))} weeks, {len(truth):,} items, "
            f"{truth.mean():.3f} positive in truth\n  weekly 95 % intervals or tests against the reference: {len(off)} of "
            f"{checked} weeks differ\n  monitor against {reference}: {raised}",
            flush=True,
        )


def main() -> None:
    """Run the parts that are named, or all but the reviews."""
    warnings.simplefilter("ignore")
    print(f"headcount {hc.__version__}, numpy {np.__version__}")
    parts = sys.argv[1:] or ["delays", "items", "alarms"]
    for part in parts:
        {"alarms": false_alarms, "delays": delays, "items": items, "reviews": reviews}[part]()


if __name__ == "__main__":
    main()
