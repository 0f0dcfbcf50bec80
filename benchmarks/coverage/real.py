"""Real items: texts and tables of the folder HEADCOUNT_DATA."""

import gzip
import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

Array = Any


def _file(name: str) -> Path:
    return Path(os.environ.get("HEADCOUNT_DATA", "shared/data")) / name


@lru_cache
def _texts(name: str, most: int) -> tuple[Array, Array]:
    """Return the counts of words of all texts of a set, at most ``most`` of a class, and the classes."""
    texts: list[str] = []
    labels: list[str] = []
    for part in ("train", "test"):
        with gzip.open(_file(f"{name}/{part}.txt.gz"), "rt", encoding="utf-8") as file:
            for line in file:
                label, _, text = line.rstrip("\n").partition("\t")
                labels.append(label)
                texts.append(text)
    codes, _ = pd.factorize(np.array(labels), sort=True)
    order = np.random.default_rng(0).permutation(len(texts))
    kept = np.sort(np.concatenate([order[codes[order] == c][:most] for c in range(codes.max() + 1)]))
    # The vocabulary of all texts only numbers the columns: which terms a classifier knows, it learns itself (learners.SeenTerms).
    X = CountVectorizer(min_df=2, dtype=np.float64).fit_transform(texts[i] for i in kept)
    return X.tocsr(), codes[kept]


@lru_cache
def _table(name: str) -> tuple[Array, Array]:
    frame = pd.read_parquet(_file(f"{name}.parquet"))
    codes, _ = pd.factorize(frame["y"], sort=True)
    return frame.drop(columns=["y", "part"], errors="ignore").to_numpy(dtype=np.float64), codes


@dataclass(frozen=True)
class _Finite:
    """Items of a finite set.

    Labelled and target items of one simulation are drawn without replacement from the same items of a class, so they share none.
    The difference of two such means has the same variance as if both came from an infinite population, and only the shares differ.
    Two fixed parts would differ in more than the shares.
    """

    name: str
    left: list[list[int]] = field(default_factory=list, repr=False, compare=False)

    def pool(self) -> tuple[Array, Array]:
        raise NotImplementedError

    @property
    def files(self) -> Path:
        raise NotImplementedError

    @property
    def k(self) -> int:
        return int(self.pool()[1].max()) + 1

    def start(self, generator: np.random.Generator) -> None:
        codes = self.pool()[1]
        self.left[:] = [generator.permutation(np.flatnonzero(codes == c)).tolist() for c in range(self.k)]

    def draw(self, codes: Array, generator: np.random.Generator) -> Array:
        return self.pool()[0][[self.left[c].pop() for c in codes]]

    def scorer(self) -> None:
        return None


@dataclass(frozen=True)
class Texts(_Finite):
    """Reviews or questions, as counts of words."""

    most: int = 8_000

    def pool(self) -> tuple[Array, Array]:
        return _texts(self.name, self.most)

    @property
    def files(self) -> Path:
        return _file(f"{self.name}/train.txt.gz")


@dataclass(frozen=True)
class Table(_Finite):
    """Rows of a table of numbers."""

    def pool(self) -> tuple[Array, Array]:
        return _table(self.name)

    @property
    def files(self) -> Path:
        return _file(f"{self.name}.parquet")


def has_data(world: Any) -> bool:
    """Whether the files of a world are at hand."""
    return not isinstance(world, _Finite) or world.files.is_file()
