"""A data set under a plan: its items in each representation, its split, and the samples drawn from it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from headcount._labels import class_order
from headcount._typing import AnyArray, FloatArray
from headcount._validation import check_ordered, has_natural_order
from headcount.data import Corpus, load_set, settings_beside, table_file
from headcount.errors import check_order, get_error, minority_class
from headcount.exceptions import DataError
from headcount.learners import Fits
from headcount.protocols import Samples
from headcount.selection.tasks import Fold
from headcount.study.plan import DEFAULT, Plan
from headcount.study.representations import make_transformer
from headcount.study.tasks import protocol_of, seeds

__all__ = ["StudyData", "study_data"]


@dataclass(frozen=True, eq=False)
class StudyData:
    """Training and test part of one data set, under one plan."""

    plan: Plan
    name: str
    train: Corpus
    test: Corpus
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The parameters of learners on this data set, by learner."""
    same_items_as: str = ""
    """Other data sets of the same items, as a file beside it says."""

    @property
    def kind(self) -> str:
        """What the items are: "texts" or "tables"."""
        return "texts" if self.train.is_text else "tables"

    @cached_property
    def classes(self) -> AnyArray:
        """The classes of the training part, in the plan's order of them if it has one."""
        return self.train.classes[self._order]

    @cached_property
    def training(self) -> FloatArray:
        """Shares of the classes in the training part."""
        shares: FloatArray = self.train.prevalence[self._order]
        return shares

    @property
    def ordered(self) -> bool:
        """Whether the order of the classes means something."""
        return self.name in self.plan.ordered or has_natural_order(self.train.classes)

    @cached_property
    def _order(self) -> list[int]:
        known = self.train.classes
        return (
            class_order(known, self.plan.ordered[self.name])
            if self.name in self.plan.ordered
            else list(range(len(known)))
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of documents and labels."""
        return str(joblib.hash((self.train.fingerprint, self.test.fingerprint)))

    @cached_property
    def items_fingerprint(self) -> str:
        """A hash of the items without their labels, the same in any order: of data sets that share it, one counts."""
        both: list[Any] = [self.train.items, self.test.items]
        rows = [row for items in both for row in (np.asarray(items.todense()) if hasattr(items, "todense") else items)]
        digests = sorted(
            hashlib.sha256(row.encode("utf-8", "surrogatepass") if self.train.is_text else row.tobytes()).digest()
            for row in rows
        )
        return hashlib.sha256(b"".join(digests)).hexdigest()

    def items(self, representation: str) -> tuple[Any, Any]:
        """Return training and test items; features are learnt once, on all labelled documents."""
        if not self.train.is_text:
            return self.train.items, self.test.items
        cache = self.__dict__.setdefault("_items", {})
        if representation not in cache:
            transformer = clone(make_transformer(representation))
            cache[representation] = transformer.fit_transform(self.train.items), transformer.transform(self.test.items)
        train_and_test: tuple[Any, Any] = cache[representation]
        return train_and_test

    @cached_property
    def _split(self) -> tuple[AnyArray, AnyArray]:
        """Rows of the training part: to fit on, and to judge settings on."""
        try:
            fitting, judging = train_test_split(
                np.arange(len(self.train)),
                test_size=self.plan.protocol.held_out,
                stratify=self.train.labels,
                random_state=seeds(self.plan)["split"] % 2**32,
            )
        except ValueError as error:
            raise DataError(f"{self.name} can't be split into a part to fit on and one to judge on: {error}") from error
        return np.sort(fitting), np.sort(judging)

    @cached_property
    def _drawn(self) -> dict[str, tuple[Samples, FloatArray]]:
        """The samples of each stage, with their true shares."""
        _, judging = self._split
        train: Any = self.train.labels
        test: Any = self.test.labels
        return {
            stage: protocol_of(self.plan, stage, len(self.classes)).draw(labels, self.classes)
            for stage, labels in (("select", train[judging]), ("test", test))
        }

    @property
    def samples(self) -> Samples:
        """The test samples."""
        return self._drawn["test"][0]

    @property
    def true(self) -> FloatArray:
        """The shares of the test samples."""
        return self._drawn["test"][1]

    def fold(self, stage: str, representation: str) -> Fold:
        """Return the items that members of a task are fitted on, and the items and samples that they are judged or tested on."""
        X, X_test = self.items(representation)
        y: Any = self.train.labels
        samples, true = self._drawn[stage]
        if stage == "test":
            y_test: Any = self.test.labels
            return Fold(Fits(X, y, remember=True), X_test, y_test, samples, true, self.classes, minority_class(y))
        fitting, judging = self._split
        fits = Fits(X[fitting], y[fitting], remember=True)
        return Fold(fits, X[judging], y[judging], samples, true, self.classes, minority_class(y))


def study_data(plan: Plan, name: str, data_dir: str | Path | None = None) -> StudyData:
    """Load a data set of a plan; of a league, with the learners' settings for it, and the methods that suit it."""
    place = plan.places.get(name, name)
    train, test = load_set(place, data_dir)
    if not plan.league:
        data = StudyData(plan, name, train, test)
        _check_measures(data)
        return data
    file = table_file(place, data_dir)
    settings: dict[str, dict[str, Any]] = {}
    same_items_as = ""
    for learner in plan.learners:
        beside = settings_beside(file, learner.settings) if file is not None and learner.settings else {}
        own = learner.make().get_params() if beside else {}
        same_items_as = str(beside.get("same_items_as", same_items_as))
        settings[learner.name] = {key: value for key, value in beside.items() if key in own}
    data = StudyData(plan, name, train, test, settings, same_items_as)
    _check_measures(data)
    return replace(data, plan=plan.suited_to({"classes": data.classes, "kind": data.kind, "settings": settings}))


def _check_measures(data: StudyData) -> None:
    """Raise if a measure or a part of the samples goes by an order that the classes do not have, or if the order is not theirs."""
    plan, classes = data.plan, data.classes
    for name in dict.fromkeys(
        [*plan.measures, *(target for m in plan.methods for target in m.targets if target != DEFAULT)]
    ):
        check_order(get_error(name), classes, data.ordered)
    for part in plan.protocol.parts:
        if part.kind in ("smooth", "location", "spread"):
            check_ordered(classes, data.ordered, f"A part of the samples, {part.name!r} ({part.kind}),")
