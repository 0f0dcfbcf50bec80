"""False alarms and delays of `headcount.monitor`, by simulation and on real reviews by week: `python -m benchmarks.watch`.

Parts: ``alarms`` (looks at unchanged streams), ``delays`` (a move by 5 points), ``items`` (the check of the items), ``reviews``
(amazon_devices by week). Labelled items are drawn again in each simulation; many simulations are computed at once, by the process
that `Monitor` runs. With ``--store FOLDER`` what is done is kept there, and a run that is repeated goes on where it was.
"""

import argparse
import json
import platform
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import brentq
from sklearn.pipeline import make_pipeline

import headcount as hc
from benchmarks._watch_kernel import NEGLIGIBLE, batch_sums, first_alarm, misses
from benchmarks._watch_worlds import UNSEEN, WORLDS, World
from headcount.checks.label_shift import labelled_scores
from headcount.monitor import Monitor, MoveProcess, ShareScores
from headcount.monitor.cell_blocks import BLOCK_ITEMS, CellBlocks
from headcount.monitor.late_labels import LateLabels
from headcount.monitor.sequence import labelled_radius
from headcount.monitor.share_watches import BandWatch, MovedWatch

MOVE, LEVEL, FIRST = 0.05, 0.95, 2_000
PARTS = {"moved": 0.7, "items": 0.2, "labels": 0.1}
"""Of alpha, in a monitor with a reference, or bands, and a check of the items."""
CHUNK = 50
"""Streams that are computed together and kept in one file."""
LABELS_OF_A_BATCH = 5


def threshold(kind: str) -> float:
    """Return the logarithm of the e-value at which an alarm is raised."""
    return -float(np.log(PARTS[kind] * (1.0 - LEVEL)))


def generator_of(*key: int) -> np.random.Generator:
    return np.random.default_rng([17, *key])


@dataclass
class Stream:
    """What is learnt from the labelled items of one simulation: scores, and the processes that `Monitor` would run."""

    scores: ShareScores
    values: Any
    """Scores of the cells less the shares, a row for each class that is watched."""
    in_class: Any
    """For items of each class: the same scores less 1 if they are those for this class."""
    process: MoveProcess

    @classmethod
    def of(cls, world: World, seed: int, s: int) -> "Stream":
        p, cells = world.shares(world.share), np.arange(world.profiles.shape[1])[:, None]
        quantifier = world.labelled(generator_of(seed, s))
        scores = ShareScores.of(quantifier, p)
        watch = MovedWatch(scores, MOVE, p)
        y = scores.of_items(quantifier.outputs(cells))[:, watch.positions].T
        in_class = [y - (np.array(watch.positions) == code)[:, None] for code in range(world.k)]
        return cls(scores, y - p[watch.positions, None], in_class, watch.process)

    @property
    def labelled_error(self) -> float:
        """Variance of the labelled items' error of the last class's share."""
        return float(self.scores.error_variance(self.scores.inside)[-1])

    def fixed_size(self) -> float:
        """Items of a fixed test at 5 % with 80 % power, the labelled items' error counted; infinite if there is no such number."""
        p, errors = self.scores.inside, self.labelled_error
        moved = self.scores.composition(len(p) - 1, p[-1] + moved_by(p[-1]), p)
        before, after = (float(self.scores.plain_variance(shares)[-1]) for shares in (p, moved))

        def lacking(log_n: float) -> float:
            n = np.exp(log_n)
            return float(1.959964 * np.sqrt(before / n + errors) + 0.841621 * np.sqrt(after / n + errors) - MOVE)

        return float(np.exp(brentq(lacking, 0.0, 20.0))) if lacking(20.0) < 0 else np.inf


def moved_by(share: float) -> float:
    """Return the move of a share: upwards, as far as there is room."""
    return MOVE if share + MOVE <= 0.99 else -MOVE


def log_evidence(process: MoveProcess, sizes: Any, sums: Any, least: float = NEGLIGIBLE) -> Any:
    """Return the logarithm of the e-value of a process over all its streams, at each look."""
    records = np.empty((len(sums), len(sizes)))
    for j, one in enumerate(sums):
        first_alarm(sizes, one, *_arguments(process, j), np.inf, records[j], least)
    top = records.max(axis=0)
    return top + np.log(np.exp(records - top).mean(axis=0))


def _arguments(process: MoveProcess, j: int) -> tuple[Any, ...]:
    moves = process._sizes
    kept = np.isfinite(moves.log_weights[j])
    arrays = (np.ascontiguousarray(one[j][kept]) for one in (moves.moves, moves.variance, moves.log_weights))
    return float(process.variance[j]), float(process.error_variance[j]), process.scale, *arrays


def first_look(process: MoveProcess, sizes: Any, sums: Any, log_threshold: float) -> int:
    """Return the look of the first alarm, or -1."""
    if len(sums) == 1:
        return int(first_alarm(sizes, sums[0], *_arguments(process, 0), log_threshold, np.empty(0), NEGLIGIBLE))
    above = np.flatnonzero(log_evidence(process, sizes, sums) >= log_threshold)
    return int(above[0]) if len(above) else -1


def false_alarms(world: World, seed: int, looks: int, streams: range) -> list[list[int]]:
    """Count alarms of a reference, of a band that ends at the share, and of labels, and sequences that miss it: nothing changes."""
    sizes = generator_of(seed, 1, 10**6).integers(world.sizes[0], world.sizes[1] + 1, looks)
    cumulated, share = world.cumulated(world.share), world.share
    below = share <= 0.5  # the band is the longer side
    of_classes = np.cumsum(world.profiles, axis=1)
    of_classes[:, -1] = 1.0
    rows = []
    for s in streams:
        stream = Stream.of(world, seed, s)
        process, scores = stream.process, stream.scores
        sums = batch_sums(sizes, cumulated, stream.values, 10_000 * seed + s)
        moved = first_look(process, sizes, sums, threshold("moved"))
        end, sign = scores.inside[-1], 1.0 if below else -1.0
        band = BandWatch(
            scores, MOVE, {world.k - 1: (0.0, end) if below else (end, 1.0)}, PARTS["moved"] * (1.0 - LEVEL)
        )
        (_, _, widened), *_ = band.sides
        beyond = sign * (sums[-1:] - sizes * (widened - end))
        left = first_look(band.processes[0], sizes, beyond, threshold("moved") + np.log(2.0))
        late = LateLabels(scores, MOVE).processes
        labels = generator_of(seed, s, 2).multinomial(LABELS_OF_A_BATCH, world.shares(share), looks).T.copy()
        logs = [
            log_evidence(
                late[c], labels[c], batch_sums(labels[c], of_classes[c], stream.in_class[c], 10**6 * (c + 1) + s)
            )
            for c in range(world.k)
        ]
        contradicted = np.logaddexp.reduce(logs).max() - np.log(world.k) >= threshold("labels")
        at, variances, _ = scores.tables(world.k - 1, MOVE)
        v, errors = float(np.interp(end, at, variances)), stream.labelled_error
        radius = labelled_radius(world.k, (1.0 - LEVEL) / 2.0) * np.sqrt(errors)
        missed, fixed = misses(sizes, sums[-1], v, v / MOVE**2, 1.0 - LEVEL, radius, errors)
        rows.append([int(moved >= 0), int(left >= 0), int(contradicted), int(missed), int(fixed)])
    return rows


def delays(world: World, seed: int, size: int, streams: range) -> list[list[float]]:
    """Return items from a move by 5 points, after 0, 2,000 and 20,000 items, to the alarm; negative if it was before the move."""
    rows = []
    fixed = float(np.median([Stream.of(world, seed, s).fixed_size() for s in range(CHUNK)]))
    for s in streams:
        stream, row = Stream.of(world, seed, s), [fixed]
        for before in (0, 2_000, 20_000):
            parts = [
                (np.full(n // size, size), world.cumulated(share))
                for n, share in (
                    (before, world.share),
                    (int(8 * min(fixed, 20_000)), world.share + moved_by(world.share)),
                )
            ]
            sums = [
                batch_sums(part, cumulated, stream.values, 100 * s + i) for i, (part, cumulated) in enumerate(parts)
            ]
            sizes = np.concatenate([part for part, _ in parts])
            look = first_look(stream.process, sizes, np.concatenate(sums, axis=1), threshold("moved"))
            row.append((look + 1) * size - before if look >= 0 else np.inf)
        rows.append(row)
    return rows


def item_alarms(world: World, seed: int, blocks: int, streams: range) -> list[list[float]]:
    """Return, for the check, whether unchanged items raise an alarm, and items until one after 5 % of unsure ones are added."""
    rows = []
    for s in streams:
        generator, row = generator_of(seed, s, 3), []
        quantifier = world.labelled(generator)
        cells = labelled_scores(quantifier, None).cells()
        outputs = quantifier.outputs(np.arange(world.profiles.shape[1])[:, None])
        codes, P = cells.representation.codes(outputs), outputs.posteriors
        unsure = np.argsort(np.sort(P, axis=1)[:, -1])[: max(2, len(P) // 50)]
        for changed in (False, True):
            process, n, look = CellBlocks(cells), 0, np.inf
            for _ in range(min(blocks, 64) if changed else blocks):
                counts = generator.multinomial(BLOCK_ITEMS, world.shares(world.share) @ world.profiles).astype(float)
                if changed and n >= 5_000:
                    np.add.at(counts, generator.choice(unsure, BLOCK_ITEMS // 20), 1.0)
                process.update(np.bincount(codes, counts, minlength=cells.n_cells), counts @ P)
                n += BLOCK_ITEMS
                if process.evidence >= np.exp(threshold("items")):
                    look = float(n)
                    break
            row.append(look)
        rows.append([float(np.isfinite(row[0])), row[1] - 5_000 if row[1] > 5_000 else np.inf])
    return rows


def alarms_text(table: Any) -> str:
    """Return the rates of alarms, with standard errors."""
    names = "reference", "band", "labels", "sequence", "fixed intervals"
    rates = np.mean(table, axis=0)
    errors = np.sqrt(rates * (1.0 - rates) / len(table))
    return ", ".join(f"{n} {100 * r:.2f} ± {100 * e:.2f} %" for n, r, e in zip(names, rates, errors, strict=True))


def delays_text(table: Any) -> str:
    """Return median delays, beside the fixed test, with the part of the streams that had an alarm before the move."""
    table, texts = np.array(table), []
    fixed = table[0, 0]
    for before, column in zip((0, 2_000, 20_000), table[:, 1:].T, strict=True):
        after = np.sort(column[column > 0])
        delay, half = float(np.median(after)), 0.98 * np.sqrt(len(after))  # a 95 % interval, by ranks
        low, high = after[int(len(after) / 2 - half)], after[min(len(after) - 1, int(len(after) / 2 + half))]
        early = 100 * float((column <= 0).mean())
        texts.append(
            f"after {before:,}: {delay:,.0f} ({delay / fixed:.2f} x, {low / fixed:.2f} to {high / fixed:.2f}; {early:.1f} % before)"
        )
    return f"fixed test {fixed:,.0f}; {'; '.join(texts)}"


def items_text(table: Any) -> str:
    """Return the rate of false alarms of the check, and how fast a change is found."""
    rates, found = np.array(table).T
    late = f"median after {np.median(found[np.isfinite(found)]):,.0f}" if np.isfinite(found).any() else "never"
    rate, part = rates.mean(), np.isfinite(found).mean()
    errors = [100 * np.sqrt(r * (1 - r) / len(table)) for r in (rate, part)]
    share = f"{100 * part:.0f} ± {errors[1]:.0f} %"
    return f"false alarms {100 * rate:.2f} ± {errors[0]:.2f} %; 5 % unsure items found in {share}, {late}"


SIMULATED: dict[str, tuple[Callable[..., Any], Callable[[Any], str]]] = {
    "alarms": (false_alarms, alarms_text),
    "delays": (delays, delays_text),
    "items": (item_alarms, items_text),
}


def simulate(part: str, worlds: tuple[World, ...], setting: int, n: int, jobs: int, store: Path | None) -> None:
    """Compute a part for all worlds, chunk by chunk, and print a line for each world."""
    function, text = SIMULATED[part]
    seeds = [(WORLDS + UNSEEN).index(world) for world in worlds]
    chunks = [range(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK)]
    with Parallel(n_jobs=jobs, return_as="generator") as pool:
        tasks = (
            delayed(_chunk)(function, w, s, setting, c, store)
            for w, s in zip(worlds, seeds, strict=True)
            for c in chunks
        )
        results: Iterator[Any] = pool(tasks)
        for world in worlds:
            rows = [row for _ in chunks for row in next(results)]
            sizes = "-".join(map(str, sorted(set(world.sizes))))
            batches = f", batches of {sizes}" if part == "alarms" else ""
            print(f"{world.title}{batches}: {text(rows)}", flush=True)


def _code() -> str:
    """Return a digest of the code that chunks depend on."""
    digest = sha256()
    folder = Path(__file__).parent
    for file in (*sorted(Path(hc.__file__).parent.glob("monitor/*.py")), *sorted(folder.glob("*watch*.py"))):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _chunk(function: Any, world: World, seed: int, setting: int, streams: range, store: Path | None) -> Any:
    key = sha256(repr((function.__name__, world, seed, setting, streams, _code())).encode()).hexdigest()[:24]
    file = None if store is None else store / f"{function.__name__}-{key}.json"
    if file is not None and file.exists():
        return json.loads(file.read_text())
    warnings.simplefilter("ignore")
    rows = function(world, seed, setting, streams)
    if file is not None:
        partial = file.with_suffix(".partial")
        partial.write_text(json.dumps(rows))
        partial.replace(file)
    return rows


def largest_difference() -> float:
    """Compare the compiled process with `MoveProcess` over 400 looks, of normal numbers and of scores of a rare class."""
    generator, largest = np.random.default_rng(0), 0.0
    rare = Stream.of(WORLDS[4], 4, 0).process
    fresh = [
        MoveProcess(np.array([0.3]), np.array([1e-4]), MOVE),
        MoveProcess(np.array([0.3]), np.zeros(1), MOVE, True),
    ]
    for process in (*fresh, rare):
        v = float(process.variance[0])
        sizes = generator.integers(10, 200, 400)
        sums = generator.normal(0.0, np.sqrt(v * sizes)) + 0.1 * np.sqrt(v) * sizes * (np.arange(400) > 300)
        record = log_evidence(process, sizes, sums[None, :], -60.0)
        for look, (n, total) in enumerate(zip(sizes.tolist(), sums, strict=True)):
            process.update(n, np.array([total]))
            largest = max(largest, abs(float(process.log_evidence[0]) - record[look]))
    return largest


def reviews() -> None:
    """Amazon_devices by week, with labelled items of the first weeks, of all weeks at random, and of films (imdb).

    In random order nothing changes, so that all alarms are false. Every tenth review of a week is labelled later.
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
            monitor.add_labels(name, outputs.take(rows[::10]), truth[rows[::10]])
            answer, n = hc.estimate(quantifier, outputs.take(rows)), n + len(rows)
            if reference == "labelled":
                checked, differs = checked + 1, not answer.low[1] <= labels.mean() <= answer.high[1]
            elif n > FIRST:
                checked, differs = checked + 1, bool(hc.difference(first, answer).p_value[1] < 0.05)
            else:
                continue
            off += [name] if differs else []
        by_labels: Any = monitor.labelled
        raised = [(a.kind, a.batch, a.since, a.text[:90], a.items_p) for a in monitor.alarms]
        print(
            f"{title} ({len(labels):,}, {labels.mean():.3f} positive): {len(set(weeks))} weeks, {len(truth):,} items, "
            f"{truth.mean():.3f} positive in truth\n  weekly 95 % intervals or tests against the reference: {len(off)} of "
            f"{checked} weeks differ\n  monitor against {reference}: {raised}\n  by {by_labels.n_labels:,} labels: "
            f"{by_labels.shares[1]:.3f} positive ({by_labels.low[1]:.3f} to {by_labels.high[1]:.3f}), by scores alone "
            f"{by_labels.corrected[1]:.3f}",
            flush=True,
        )


def main() -> None:
    """Run the parts that are named, or all but the reviews."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["delays", "items", "alarms"])
    parser.add_argument("-n", type=int, default=2_000, help="streams")
    parser.add_argument("--looks", type=int, default=10_000, help="of each stream, for alarms")
    parser.add_argument("--blocks", type=int, default=64, help="of 500 items, for items")
    parser.add_argument(
        "--worlds", default="", help="numbers of the worlds, from 0, such as 4,7; 9 and above are the unseen ones"
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--store", type=Path, help="a folder that keeps what is done")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.store is not None:
        given.store.mkdir(parents=True, exist_ok=True)
    every = WORLDS + UNSEEN
    worlds = tuple(every[int(i)] for i in given.worlds.split(",")) if given.worlds else every
    print(f"headcount {hc.__version__}, numpy {np.__version__}, Python {platform.python_version()}; seed 17")
    difference = largest_difference()
    if difference > 1e-6:  # such as a constant of the process that a compiled cache does not know of
        raise SystemExit(
            f"The compiled process differs from the monitor's by {difference:.1e}: delete benchmarks/__pycache__."
        )
    settings = {"alarms": given.looks, "delays": 25, "items": given.blocks}
    titles = {
        "alarms": f"{given.looks:,} looks each",
        "delays": f"moves by {MOVE:g}, batches of 25",
        "items": f"{given.blocks} blocks of {BLOCK_ITEMS} items",
    }
    for part in given.parts:
        if part == "reviews":
            reviews()
            continue
        if part == "items":
            worlds = tuple(world for world in worlds if world.method != "ACC")  # whose decisions alone are not checked
        print(f"{part}: {given.n:,} streams, labelled items drawn again in each; {titles[part]}", flush=True)
        simulate(part, worlds, settings[part], given.n, given.jobs, given.store)


if __name__ == "__main__":
    main()
