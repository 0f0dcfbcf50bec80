"""Data sets by name: the three of the paper, synthetic stand-ins, and your own folders with a training and a test file."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from headcount._validation import quoted
from headcount.data.bundled import BUNDLED, draw_bundled
from headcount.data.corpus import Corpus
from headcount.data.digests import check_digest
from headcount.data.league_sets import files_of_sets, read_set
from headcount.data.readers import FORMATS, read_corpus
from headcount.data.synthetic import STAND_INS
from headcount.exceptions import DataError, FileFormatError, UnknownNameError

__all__ = ["PAPER_SETS", "DataSet", "data_folder", "find_files", "list_sets", "load_set", "sets_in", "table_file"]

_BUNDLED, _ALL = "bundled", "*"
ZENODO = "https://zenodo.org/records/4117827"


@dataclass(frozen=True)
class DataSet:
    """A data set of the paper, and the sizes and shares that its files must have.

    Attributes
    ----------
    name, title : str
    n_train, n_test : int
    positive : float
        Share of the positive class in the training part, to three decimals.
    """

    name: str
    title: str
    n_train: int
    n_test: int
    positive: float

    def check(self, train: Corpus, test: Corpus) -> None:
        """Raise unless the files have the paper's numbers of documents and share of positives."""
        for corpus, expected, part in ((train, self.n_train, "training"), (test, self.n_test, "test")):
            if len(corpus) != expected:
                raise FileFormatError(
                    f"{corpus.source} has {len(corpus):,} documents; the {part} part of {self.title} has {expected:,}. Fetch it "
                    f"again (headcount data fetch {self.name}), or put your own set into a folder of another name."
                )
        if train.classes.tolist() != [0, 1] or abs(train.prevalence[1] - self.positive) > 0.002:
            raise FileFormatError(
                f"{train.source} has the classes {quoted(train.classes)} with the shares {train.prevalence.round(3).tolist()}; "
                f"{self.title} has 0 and 1, and {self.positive} of 1."
            )


PAPER_SETS = {
    "imdb": DataSet("imdb", "IMDB", 25_000, 25_000, 0.500),
    "kindle": DataSet("kindle", "Kindle", 3_821, 21_592, 0.917),
    "hp": DataSet("hp", "HP", 9_533, 18_401, 0.982),
}


def data_folder(folder: str | Path | None = None) -> Path:
    """Folder of the data sets: the given one, else ``HEADCOUNT_DATA``, else one in the user's cache."""
    chosen = folder or os.environ.get("HEADCOUNT_DATA")
    if chosen:
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "headcount" / "data"


def find_files(name: str, folder: str | Path | None = None) -> tuple[Path, Path] | None:
    """Find training and test file of a data set, ``NAME/train.txt`` or ``NAME_train.txt`` and so on; None if there are none.

    NAME may also be the path of such a folder. Endings as for `read_corpus`, gzipped or not.
    """
    base = data_folder(folder)
    for prefix in (str(base / name) + os.sep, f"{base / name}_", name + os.sep):
        train, test = _file_with_stem(f"{prefix}train"), _file_with_stem(f"{prefix}test")
        if train is not None and test is not None:
            return train, test
    return None


def _file_with_stem(stem: str) -> Path | None:
    """Find the file with this stem and a known ending."""
    return _first_file(f"{stem}{ending}{gzipped}" for ending in FORMATS for gzipped in ("", ".gz"))


def _first_file(paths: Iterable[str]) -> Path | None:
    try:
        return next((path for path in map(Path, paths) if path.is_file()), None)
    except (OSError, ValueError):  # not a valid file name
        return None


def table_file(name: str, folder: str | Path | None = None) -> Path | None:
    """Find the Parquet file of a data set, ``NAME.parquet`` in the data folder or the path of such a file; None without one."""
    return _first_file([f"{data_folder(folder) / name}.parquet", *([name] if name.endswith(".parquet") else [])])


def sets_in(place: str, folder: str | Path | None = None) -> dict[str, str]:
    """Return the data sets of a folder, by name: where each is. Empty if the place is no folder, or one data set itself.

    Parameters
    ----------
    place : str
        ``bundled`` (scikit-learn's tables and a synthetic stand-in), ``*`` (the data folder and the folders in it), or a folder, in
        the data folder or by its path. Sets are Parquet files with columns ``y`` and ``part``, and folders with a train and a
        test file.
    """
    if place == _BUNDLED:
        return {name: name for name in (*(f"{_BUNDLED}/{table}" for table in BUNDLED), "synthetic-kindle")}
    base = data_folder(folder)
    if place == _ALL:
        folders = sorted(entry for entry in base.iterdir() if entry.is_dir()) if base.is_dir() else []
        found = _sets_of(base, "")
        for entry in folders:
            found |= _sets_of(entry, f"{entry.name}/")
        return found
    place_found = next((path for path in (base / place, Path(place)) if path.is_dir()), None)
    if place_found is None or find_files(place, folder) is not None:
        return {}
    found = _sets_of(place_found, f"{place_found.resolve().name}/")
    if not found:
        raise DataError(
            f"{place_found} holds no data sets: each is a Parquet file with the columns 'y' and 'part' (train or test), or a "
            "folder with a train and a test file."
        )
    return found


def _sets_of(folder: Path, prefix: str) -> dict[str, str]:
    if not folder.is_dir():
        return {}
    found = {f"{prefix}{path.stem}": str(path) for path in files_of_sets(folder)}
    for entry in sorted(entry for entry in folder.iterdir() if entry.is_dir()):
        if find_files(str(entry)) is not None:
            found[f"{prefix}{entry.name}"] = str(entry)
    return found


def list_sets(folder: str | Path | None = None) -> list[str]:
    """Names of all data sets: those of the paper (fetched or not), the stand-ins, and those in the folder."""
    base = data_folder(folder)
    entries = list(base.iterdir()) if base.is_dir() else []
    in_folder = sorted({entry.name if entry.is_dir() else entry.name.partition("_train.")[0] for entry in entries})
    shipped = [*PAPER_SETS, *STAND_INS]
    return shipped + [name for name in in_folder if name not in shipped and find_files(name, folder)]


def load_set(name: str, folder: str | Path | None = None) -> tuple[Corpus, Corpus]:
    """Load the training and the test part of a data set.

    Parameters
    ----------
    name : str
        ``imdb``, ``kindle`` or ``hp`` (checked against the paper's sizes), a synthetic stand-in, a table that scikit-learn brings
        (``bundled/iris``), a folder in the data folder with the files ``train`` and ``test``, a Parquet file there with columns
        ``y`` and ``part``, or the path of such a folder or file.
    folder : str or Path, optional
        The data folder; by default ``HEADCOUNT_DATA``, or one in the user's cache.

    Examples
    --------
    >>> train, test = load_set("synthetic-kindle")
    >>> train
    Corpus(3,821 texts, classes 0 0.083, 1 0.917)
    """
    if name in STAND_INS:
        return STAND_INS[name].draw()
    if name.startswith(f"{_BUNDLED}/") and name.partition("/")[2] in BUNDLED:
        return draw_bundled(name.partition("/")[2])
    table = table_file(name, folder)
    if table is not None:
        return read_set(table)
    files = find_files(name, folder)
    if files is None:
        if name in PAPER_SETS:
            raise DataError(
                f"{PAPER_SETS[name].title} has not been fetched. Run 'headcount data fetch {name}', or put {name}_train.txt and "
                f"{name}_test.txt from {ZENODO} into {data_folder(folder)}."
            )
        raise UnknownNameError(
            f"There is no data set {name!r}: {data_folder(folder)} has no folder of this name with a train and a test file "
            f"(e.g. train.txt and test.txt). There are: {quoted(list_sets(folder), 50)}."
        )
    if name in PAPER_SETS:
        for path in files:
            check_digest(path)
    train, test = (read_corpus(path) for path in files)
    for corpus in (train, test):
        if corpus.labels is None:
            raise FileFormatError(f"{corpus.source} has no labels: a data set needs them in both parts.")
    test = _with_columns_of(train, test, files[1])
    unknown = set(test.classes.tolist()) - set(train.classes.tolist())
    if unknown:
        raise FileFormatError(
            f"{test.source} has labels that {train.source} lacks: {quoted(sorted(unknown, key=str))}."
        )
    if name in PAPER_SETS:
        PAPER_SETS[name].check(train, test)
    return train, test


def _with_columns_of(train: Corpus, test: Corpus, path: Path) -> Corpus:
    """Test part with the columns of the training part, in their order."""
    if train.is_text != test.is_text:
        raise FileFormatError(f"{train.source} and {test.source} do not match: one has texts, the other numbers.")
    if train.is_text:
        return test
    if train.feature_names is not None and test.feature_names is not None:
        missing = [name for name in train.feature_names if name not in test.feature_names]
        extra = [name for name in test.feature_names if name not in train.feature_names]
        if missing or extra:
            raise FileFormatError(
                f"{test.source} must have the columns of {train.source}: missing are {quoted(missing) or 'none'}, "
                f"extra {quoted(extra) or 'none'}."
            )
        order = [test.feature_names.index(name) for name in train.feature_names]
        return Corpus(test.items[:, order], test.labels, test.source, train.feature_names)
    width = train.items.shape[1]
    if test.items.shape[1] > width:
        raise FileFormatError(f"{test.source} has {test.items.shape[1]:,} features, and {train.source} only {width:,}.")
    return test if test.items.shape[1] == width else read_corpus(path, n_features=width)
