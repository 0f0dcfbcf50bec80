"""`Monitor`: shares of a stream of batches, corrected, with intervals and alarms that hold at all looks together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from headcount._typing import FloatArray, Items, Labels
from headcount._validation import as_labels, encode, plain
from headcount.checks import LabelledCells
from headcount.checks.label_shift import labelled_scores
from headcount.exceptions import DataError
from headcount.intervals.result import check_level
from headcount.monitor.alarms import LASTING, THRESHOLD_PARTS, alarm_text, share_text
from headcount.monitor.batch import Batch, label_digests
from headcount.monitor.cell_blocks import CellBlocks
from headcount.monitor.cells_since import CellsSince
from headcount.monitor.late_labels import LabelledShares, LateLabels
from headcount.monitor.questions import as_bands, as_reference
from headcount.monitor.resolution import resolution_of
from headcount.monitor.result import ALARM, QUIET, TOO_EARLY, Alarm, WatchResult
from headcount.monitor.sequence import ConfidenceSequence
from headcount.monitor.share_scores import ShareScores
from headcount.monitor.share_watches import BandWatch, Move, MovedWatch
from headcount.monitor.state import read_state, state_bytes, write_state
from headcount.quantifiers import Quantifier

__all__ = ["Monitor"]

_HISTORY = 1_000
"""Batches whose results are kept; of older ones, name and digest."""


class Monitor:
    r"""Watch the shares of a stream of batches: corrected, and with one error rate for all looks together.

    With the probability ``level`` there is no false alarm, however often the stream is looked at. Fixed 95 % intervals that are
    looked at every week cry wolf sooner or later. The error of the labelled side, which is the same in all batches, is counted
    once, and what a stream shows before a change counts against it. Alarms are raised by e-values: the sum of these over all
    possible times of a change, weighted, exceeds :math:`1 / \alpha` at any time with a probability of at most :math:`\alpha`
    (Ville 1939).

    Parameters
    ----------
    quantifier : fitted quantifier with an analytic interval
        Such as PACC, ACC, HDy or ``SLD(calibration="bcts")``; or a search over such methods.
    level : float, default=0.95
        Probability of no false alarm, and of confidence sequences.
    reference : optional
        What shares are not to move from: shares in the order of the classes, a mapping of class to share (of all classes but one),
        ``"labelled"`` (the shares of the labelled items), or ``"first 2000 items"`` (those of the stream's beginning, whose
        comparison needs no labelled items and has no error of theirs).
    band : mapping of class to pair (low, high), optional
        Shares that a class is to stay between.
    move : float, default=0.05
        Size of a move that is to be found as fast as possible. Others are found too.
    check : bool, default=True
        Whether to test, where the quantifier keeps posteriors of labelled items, that the items are a mixture of the labelled
        classes.

    Attributes
    ----------
    classes : array
    results : list of dict
        Of each batch so far, the last ones.
    alarms : list of Alarm
    n_batches, n_items : int
    settings : dict
        What was asked for, and of which model, as plain values.

    Notes
    -----
    A share that stays at its reference makes a normal martingale of the mean scores of batches. For batches of few items and skewed
    scores the normal distribution is an approximation, for which the variance is increased; false alarms are measured by ``python
    -m benchmarks.watch``. An alarm of the items or of later labels lasts: the model does not fit them any more. An alarm of a
    share ends the period over which items are added up, and a new one begins, again with the same error rate.

    References
    ----------
    Ville (1939). Étude critique de la notion de collectif.
    Robbins (1970). Statistical methods related to the law of the iterated logarithm. Annals of Mathematical Statistics 41.
    Howard, Ramdas, McAuliffe and Sekhon (2021). Time-uniform, nonparametric, nonasymptotic confidence sequences. Annals of
    Statistics 49. Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024). Time-uniform central limit theory and asymptotic
    confidence sequences. Annals of Statistics 52. Shin, Ramdas and Rinaldo (2024). E-detectors: a nonparametric framework for
    sequential change detection. New England Journal of Statistics in Data Science 2. Vovk and Wang (2021). E-values: calibration,
    combination and applications. Annals of Statistics 49.

    Examples
    --------
    >>> import numpy as np
    >>> from headcount import PACC
    >>> from headcount.monitor import Monitor
    >>> rng = np.random.default_rng(0)
    >>> def batch(share, n):
    ...     y = rng.random(n) < share
    ...     return rng.standard_normal((n, 1)) + 2.5 * y[:, None], y.astype(int)
    >>> monitor = Monitor(PACC(random_state=0).fit(*batch(0.3, 3000)), reference={1: 0.3})
    >>> for week in range(40):
    ...     result = monitor.update(batch(0.3 if week < 15 else 0.4, 200)[0], batch_id=f"week {week}")
    ...     if result.alarms:
    ...         break
    >>> result.alarms[0].kind, 15 <= week < 30
    ('moved', True)
    """

    def __init__(
        self,
        quantifier: Quantifier,
        level: float = 0.95,
        reference: Any = None,
        band: Mapping[Any, Sequence[float]] | None = None,
        move: float = 0.05,
        check: bool = True,
        *,
        cells: LabelledCells | None = None,
    ) -> None:
        check_level(level)
        if not 0.005 <= move <= 0.5:
            raise DataError(f"move must be between 0.005 and 0.5, such as 0.05; got {move!r}.")
        if not isinstance(quantifier, Quantifier):
            raise DataError(f"Expected a fitted quantifier, got {quantifier!r}.")
        check_is_fitted(quantifier)
        self.quantifier, self.level, self.scale = quantifier.chosen, float(level), float(move)
        self.classes = self.quantifier.classes_
        self.scores = ShareScores.of(self.quantifier)
        asked = as_reference(reference, self.classes, self.scores.labelled_shares)
        if asked is not None and asked.shares is not None:
            self.scores = ShareScores.of(self.quantifier, asked.shares)
        self.bands = as_bands(band, self.classes)
        self.reference_title = "" if asked is None else asked.title
        if check and cells is None:
            cells = _cells_of(quantifier)
        self.cells = cells if check else None
        self.alphas = self._alphas(asked is not None)
        self._moved = None if asked is None else MovedWatch(self.scores, self.scale, asked.shares, float(asked.first))
        self._band = BandWatch(self.scores, self.scale, self.bands, self.alphas["band"]) if self.bands else None
        self._items = None if self.cells is None else CellBlocks(self.cells)
        self._since = None if self.cells is None else CellsSince(self.cells)
        self._late = LateLabels(self.scores, self.scale)
        self._sequence = ConfidenceSequence(self.scores, self.level, self.scale)
        self.settings: dict[str, Any] = {
            "model": self.scores.fingerprint,
            "level": self.level,
            "move": self.scale,
            "classes": [str(plain(label)) for label in self.classes],
            "reference": None if asked is None or asked.shares is None else asked.shares.tolist(),
            "first": 0 if asked is None else asked.first,
            "reference_title": self.reference_title,
            "band": {str(j): list(ends) for j, ends in sorted(self.bands.items())},
            "checked": self.cells is not None,
        }
        self.seen: dict[str, str] = {}
        self.results: list[dict[str, Any]] = []
        self.alarms: list[Alarm] = []
        self.n_batches, self.n_items = 0, 0
        self._raised: set[str] = set()
        self._begun = 0
        """Batches before the present period."""
        self._period_n, self._period_total = 0.0, np.zeros(len(self.classes))

    def _alphas(self, has_reference: bool) -> dict[str, float]:
        """Divide alpha among the kinds of alarms that can be raised."""
        kinds = {"moved": has_reference, "band": bool(self.bands), "items": self.cells is not None, "labels": True}
        parts = {kind: THRESHOLD_PARTS[kind] for kind, is_asked in kinds.items() if is_asked}
        total = sum(parts.values())
        return {kind: (1.0 - self.level) * part / total for kind, part in parts.items()}

    @property
    def reference_shares(self) -> FloatArray | None:
        """The shares that later ones are compared with; None without a reference, or while it is gathered."""
        centre = None if self._moved is None else self._moved.centre
        return None if centre is None else np.clip(centre, 0.0, 1.0)

    @property
    def thresholds(self) -> dict[str, float]:
        """E-values at which each kind of alarm is raised."""
        spent = {kind: 2.0 if kind == "band" else 1.0 for kind in self.alphas}  # half of a band's alpha widens it
        return {kind: spent[kind] / alpha for kind, alpha in self.alphas.items()}

    def update(self, X: Items | Batch, batch_id: str | None = None, time: str | None = None) -> WatchResult:
        """Add a batch, and say what is known now.

        Parameters
        ----------
        X : items, their `Outputs`, or a `Batch`
        batch_id : str, optional
            A batch is counted once, however often it comes. By default a batch is known by its content: batches of few items of
            which only decisions are known may be equal by chance and need an id.
        time : str, optional
            Shown in the history.
        """
        batch = X if isinstance(X, Batch) else Batch.of_items(self.quantifier, X, self.cells)
        name = batch.content if batch_id is None else str(batch_id)
        if name in self.seen:
            if self.seen[name] != batch.content:
                raise DataError(
                    f"The batch {name!r} was seen before with other content. A batch is counted once, when it is complete: give "
                    "what is new in it another id, or begin with a new state."
                )
            return self._result(name, batch.n, self.quantifier.solve(batch.statistics)[0], False, ())
        mean, shares = self.scores.mean(batch.statistics), self.quantifier.solve(batch.statistics)[0]
        self.seen[name] = batch.content
        self.n_batches, self.n_items = self.n_batches + 1, self.n_items + batch.n
        self._period_n, self._period_total = self._period_n + batch.n, self._period_total + batch.n * mean
        if self._moved is not None:
            self._moved.update(float(batch.n), mean)
        if self._band is not None:
            self._band.update(float(batch.n), mean)
        if self._items is not None and self._since is not None:
            self._items.update(batch.counts, batch.sums)
            self._since.update(batch.counts, batch.sums, self._starts())
        entry: dict[str, Any] = {"batch": name, "time": time, "n": batch.n, "mean": mean.tolist()}
        self.results.append(entry)
        alarms = self._share_alarms(name) + self._items_alarms(name)
        result = self._result(name, batch.n, shares, True, tuple(alarms))
        entry |= {
            "shares": shares.tolist(),
            "cumulative": result.cumulative.tolist(),
            "low": result.low.tolist(),
            "high": result.high.tolist(),
            "n_cumulative": result.n_cumulative,
            "evidence": result.evidence,
            "status": result.status,
            "begins": self._begun == self.n_batches - 1,
            "note": result.note,
        }
        self._raise(alarms)
        del self.results[:-_HISTORY]
        return result

    def add_labels(
        self, batch_id: str, X: Items, y: Labels, items: Sequence[Any] | None = None, key: str = "items"
    ) -> LabelledShares:
        """Add labels of items that were drawn at random from a batch; return the shares by all labels so far.

        Parameters
        ----------
        batch_id : str
        X : the labelled items, or their `Outputs`
        y : their labels
        items : sequence, optional
            What identifies each item in its batch, so that its label is counted once, however often it comes. Without it the
            same items and labels together are counted once.
        key : str
            What items are named by, such as a column. Labels of a batch whose items are named by something else later are refused,
            since they could be counted twice.
        """
        name = str(batch_id)
        entry = self._entry(name)
        codes = encode(as_labels(y), self.classes)
        outputs = self.quantifier.outputs(X)
        if outputs.n_items != len(codes):
            raise DataError(f"There are {outputs.n_items} items and {len(codes)} labels; each item needs one.")
        scores = self.scores.of_items(outputs)
        contents = label_digests(scores, codes)
        if items is None:
            whole = sha256("".join(contents).encode()).hexdigest()
            names, key = [f"{whole}:{position}" for position in range(len(codes))], "all of them together"
        else:
            names = [str(item) for item in items]
            if len(names) != len(codes) or len(set(names)) < len(names):
                raise DataError(f"items must name each of the {len(codes)} labelled items, all differently.")
        new = self._late.new(name, names, contents, key)
        n_before = self._late.batches.get(name, (0, 0))[1]
        if n_before + len(new) > entry["n"]:
            raise DataError(
                f"There are {n_before + len(new)} labels of the batch {name!r}, which has {entry['n']} items."
            )
        if len(new):
            added = [names[i] for i in new], [contents[i] for i in new]
            self._late.add(name, *added, float(entry["n"]), np.array(entry["mean"]), scores[new], codes[new], key)
            self._late.forget({one["batch"] for one in self.results})
        if "labels" not in self._raised and self._late.log_evidence >= np.log(self.thresholds["labels"]):
            evidence = float(np.exp(min(self._late.log_evidence, 700.0)))
            self._raise([Alarm("labels", "", name, "", evidence, alarm_text("labels"))])
        return self._late.shares(self.classes, self.level)

    def _entry(self, name: str) -> dict[str, Any]:
        """Return what is kept of a batch."""
        entry: dict[str, Any] | None = next((one for one in reversed(self.results) if one["batch"] == name), None)
        if entry is None:
            known = "is among the oldest, whose sums are not kept" if name in self.seen else "was not seen"
            raise DataError(f"The batch {name!r} {known}: labels must be of a batch among the last {_HISTORY:,}.")
        return entry

    def recall(self, batch_id: str) -> WatchResult:
        """Return the result of a batch that was seen before, with what is known now."""
        entry = self._entry(str(batch_id))
        return self._result(entry["batch"], entry["n"], np.array(entry["shares"]), False, ())

    def with_labels(self, result: WatchResult) -> WatchResult:
        """Return the result of the last batch with what labels say that were added after it."""
        again = self._result(result.batch, result.n, result.shares, result.counted, result.alarms)
        return replace(
            result,
            evidence=result.evidence | {"labels": again.evidence["labels"]},
            status=again.status,
            note=again.note,
        )

    @property
    def labelled(self) -> LabelledShares | None:
        """Shares by the labels that were added; None without any."""
        return self._late.shares(self.classes, self.level) if self._late.n else None

    def _share_alarms(self, name: str) -> list[Alarm]:
        alarms = []
        watches: dict[str, MovedWatch | BandWatch | None] = {"moved": self._moved, "band": self._band}
        for kind, watch in watches.items():
            if watch is not None and watch.log_evidence >= np.log(self.thresholds[kind]):
                move = watch.move()
                alarms.append(self._alarm_of(kind, watch, move, name))
        return alarms

    def _alarm_of(self, kind: str, watch: MovedWatch | BandWatch, move: Move, name: str) -> Alarm:
        first = watch.first_batches if isinstance(watch, MovedWatch) and not self._begun else 0
        position = self._begun + first + move.batches_before - (self.n_batches - len(self.results))
        since = self.results[position]["batch"] if 0 <= position < len(self.results) else ""
        label = str(plain(self.classes[move.position]))
        was = ""
        if isinstance(watch, MovedWatch) and watch.centre is not None:
            was = f"{self.reference_title} ({share_text(watch.centre[move.position])})"
        elif isinstance(watch, BandWatch):
            was = " to ".join(map(share_text, watch.bands[move.position]))
        evidence = float(np.exp(min(watch.log_evidence, 700.0)))
        p = None if self._since is None else self._since.p_value(first + move.batches_before)
        return Alarm(kind, label, name, since, evidence, alarm_text(kind, label, was, since, move.share, p), p)

    def _starts(self) -> set[int]:
        """Return the batches of the present period before which a share may have moved."""
        first = self._moved.first_batches if self._moved is not None and not self._begun else 0
        processes = [] if self._moved is None or self._moved.process is None else [(first, self._moved.process)]
        processes += [] if self._band is None else [(0, process) for process in self._band.processes]
        return {first, *(more + int(at) for more, process in processes for at in process.at_batch)}

    def _items_alarms(self, name: str) -> list[Alarm]:
        if self._items is None or "items" in self._raised or self._items.evidence < self.thresholds["items"]:
            return []
        return [Alarm("items", "", name, "", float(self._items.evidence), alarm_text("items"))]

    def _raise(self, alarms: Sequence[Alarm]) -> None:
        """Record alarms. One of a share ends the period; one about the items stays, since its evidence only grows."""
        self.alarms += alarms
        self._raised |= {alarm.kind for alarm in alarms if alarm.kind in LASTING}
        if any(alarm.kind in ("moved", "band") for alarm in alarms):
            self._begun, self._period_n = self.n_batches, 0.0
            self._period_total = np.zeros(len(self.classes))
            self._since = None if self.cells is None else CellsSince(self.cells)
            for watch in (self._moved, self._band):
                if watch is not None:
                    watch.restart()

    def _result(self, name: str, n: int, shares: FloatArray, counted: bool, alarms: tuple[Alarm, ...]) -> WatchResult:
        k = len(self.classes)
        if self._period_n:
            mean = self._period_total / self._period_n
            low, high = self._sequence.interval(mean, self._period_n)
            clipped = np.clip(mean, 0.0, 1.0)
            cumulative = clipped / clipped.sum()
            low, high = np.minimum(low, cumulative), np.maximum(high, cumulative)
        else:
            cumulative, low, high = np.full(k, np.nan), np.zeros(k), np.ones(k)
        logs = {"labels": self._late.log_evidence}
        if self._moved is not None:
            logs["moved"] = self._moved.log_evidence
        if self._band is not None:
            logs["band"] = self._band.log_evidence
        evidence = {kind: float(np.exp(min(value, 700.0))) for kind, value in logs.items()}
        if self._items is not None:
            evidence["items"] = self._items.evidence
        resolution, too_early, note = resolution_of(
            self._moved, self._band, self.thresholds, self.scale, float((high - low).max() / 2.0)
        )
        lasting = self._raised | {alarm.kind for alarm in alarms} & set(LASTING)
        if lasting:
            note = " ".join([*(LASTING[kind] for kind in sorted(lasting)), note]).strip()
        status = ALARM if alarms or lasting else TOO_EARLY if too_early else QUIET
        return WatchResult(
            name,
            n,
            counted,
            self.classes,
            shares,
            cumulative,
            low,
            high,
            int(self._period_n),
            self.level,
            {kind: evidence[kind] for kind in self.thresholds},
            self.thresholds,
            alarms,
            status,
            resolution,
            note,
        )

    def state(self) -> dict[str, Any]:
        """Return all that later batches need, as plain values."""
        return {
            "settings": self.settings,
            "seen": self.seen,
            "results": self.results,
            "alarms": [vars(alarm) for alarm in self.alarms],
            "n_batches": self.n_batches,
            "n_items": self.n_items,
            "raised": sorted(self._raised),
            "begun": self._begun,
            "period_n": self._period_n,
            "period_total": self._period_total.tolist(),
            "moved": None if self._moved is None else self._moved.state(),
            "band": None if self._band is None else self._band.state(),
            "items": None if self._items is None else self._items.state(),
            "since": None if self._since is None else self._since.state(),
            "labels": self._late.state(),
        }

    def save(self, path: str | Path) -> None:
        """Write the state to a file: completely or not at all, at whatever moment the process is killed."""
        write_state(Path(path), self.state())

    def state_bytes(self) -> bytes:
        """Return the content of the file that `save` writes."""
        return state_bytes(self.state())

    @classmethod
    def load(
        cls, path: str | Path, quantifier: Quantifier, *, cells: LabelledCells | None = None, check: bool = True
    ) -> "Monitor":
        """Read the state of a file that `save` wrote, for the quantifier that it was made with."""
        body = read_state(Path(path))
        try:
            return cls._from_state(body, quantifier, cells, check, Path(path))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{path} is damaged: it lacks what a state holds ({error!r}).") from error

    @classmethod
    def _from_state(
        cls, body: dict[str, Any], quantifier: Quantifier, cells: LabelledCells | None, check: bool, path: Path
    ) -> "Monitor":
        settings = body["settings"]
        classes = quantifier.chosen.classes_
        band = {classes[int(j)]: ends for j, ends in settings["band"].items()} if settings["band"] else None
        reference: Any = settings["reference"]
        if settings["first"]:
            reference = f"first {settings['first']} items"
        monitor = cls(
            quantifier, settings["level"], reference, band, settings["move"], check and settings["checked"], cells=cells
        )
        if monitor.settings["model"] != settings["model"]:
            raise DataError(
                f"{path} is the state of another model: shares by different models can't be compared. Use that model, or name "
                "another file to start afresh."
            )
        if (monitor.cells is not None) != settings["checked"]:
            raise DataError(f"{path} was made with a check of the items, which this model can't make.")
        monitor.reference_title = monitor.settings["reference_title"] = settings["reference_title"]
        monitor.seen, monitor.results = dict(body["seen"]), list(body["results"])
        monitor.alarms = [Alarm(**alarm) for alarm in body["alarms"]]
        monitor.n_batches, monitor.n_items = int(body["n_batches"]), int(body["n_items"])
        monitor._raised, monitor._begun = set(body["raised"]), int(body["begun"])
        monitor._period_n = float(body["period_n"])
        monitor._period_total = np.array(body["period_total"], dtype=np.float64)
        if monitor._moved is not None:
            monitor._moved = MovedWatch.from_state(monitor.scores, monitor.scale, body["moved"])
        if monitor._band is not None:
            monitor._band.restore(body["band"])
        if monitor._items is not None and monitor.cells is not None:
            monitor._items = CellBlocks.from_state(monitor.cells, body["items"])
            monitor._since = CellsSince.from_state(monitor.cells, body["since"])
        monitor._late = LateLabels.from_state(monitor.scores, monitor.scale, body["labels"])
        return monitor

    def __repr__(self) -> str:
        name = type(self.quantifier).__name__
        return f"Monitor({name}, {self.n_batches:,} batches, {self.n_items:,} items, {len(self.alarms):,} alarms)"


def _cells_of(quantifier: Quantifier) -> LabelledCells | None:
    """Return the labelled items in cells of scores; None if the quantifier keeps no posteriors of them."""
    try:
        return labelled_scores(quantifier, None).cells()
    except DataError:
        return None
