"""Data sets by name: where they are searched, what is checked, and the message if one is missing."""

import gzip
from pathlib import Path

import pytest

from headcount.data import PAPER_SETS, data_folder, find_files, list_sets, load_set
from headcount.exceptions import DataError, FileFormatError, UnknownNameError


def write(folder, name, train="1\tgood\n0\tbad\n", test="1\tfine\n0\tpoor\n", pattern="{name}/{part}.txt"):
    for part, text in (("train", train), ("test", test)):
        path = folder / pattern.format(name=name, part=part)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text)


@pytest.mark.parametrize("pattern", ["{name}/{part}.txt", "{name}/{part}.txt.gz", "{name}_{part}.txt"])
def test_a_folder_of_the_user_is_a_data_set(tmp_path, pattern, monkeypatch):
    write(tmp_path, "mine", pattern=pattern)
    train, test = load_set("mine", tmp_path)
    assert train.labels.tolist() == [1, 0]
    assert test.items.tolist() == ["fine", "poor"]
    monkeypatch.setenv("HEADCOUNT_DATA", str(tmp_path))
    assert load_set("mine")[0].fingerprint == train.fingerprint
    assert "mine" in list_sets()
    if "/" in pattern:
        assert load_set(str(tmp_path / "mine"))[0].fingerprint == train.fingerprint


def test_the_data_folder_and_the_list_of_sets(tmp_path, monkeypatch):
    monkeypatch.delenv("HEADCOUNT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "headcount" / "data"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert data_folder() == Path.home() / ".cache" / "headcount" / "data"
    assert data_folder(tmp_path) == tmp_path
    assert list_sets(tmp_path / "nothing") == [
        "imdb",
        "kindle",
        "hp",
        "synthetic-imdb",
        "synthetic-kindle",
        "synthetic-hp",
    ]
    assert find_files("imdb", tmp_path) is None


def test_missing_sets_are_refused(tmp_path):
    with pytest.raises(
        DataError,
        match=r"Kindle has not been fetched. Run 'headcount data fetch kindle', or put kindle_train.txt and kindle_test.txt",
    ):
        load_set("kindle", tmp_path)
    with pytest.raises(UnknownNameError, match=r"There is no data set 'yelp': .* There are: 'imdb'"):
        load_set("yelp", tmp_path)


def test_files_that_are_not_the_papers_are_refused(tmp_path):
    write(tmp_path, "kindle")
    with pytest.raises(FileFormatError, match=r"train.txt has 2 documents; the training part of Kindle has 3,821"):
        load_set("kindle", tmp_path)
    own = PAPER_SETS["kindle"]
    lines = ["1\tgood"] * (own.n_train // 2) + ["0\tbad"] * (own.n_train - own.n_train // 2)
    write(tmp_path, "kindle", "\n".join(lines) + "\n", "1\tgood\n" * own.n_test)
    with pytest.raises(FileFormatError, match=r"shares \[0.5, 0.5\]; Kindle has 0 and 1, and 0.917 of 1"):
        load_set("kindle", tmp_path)


def test_parts_with_different_labels_are_refused(tmp_path):
    write(tmp_path, "mine", test="1\tfine\n2\tnew\n")
    with pytest.raises(FileFormatError, match=r"has labels that .* lacks: 2"):
        load_set("mine", tmp_path)
    (tmp_path / "bare").mkdir()
    for part in ("train", "test"):
        (tmp_path / "bare" / f"{part}.csv").write_text("text\nwithout labels\n")
    with pytest.raises(FileFormatError, match="has no labels"):
        load_set("bare", tmp_path)


@pytest.mark.data
def test_the_imdb_copy_is_accepted(data_dir):
    train, test = load_set("imdb", data_dir)
    assert (len(train), len(test)) == (25_000, 25_000)


def test_both_parts_come_from_the_same_folder(tmp_path, monkeypatch):
    """A folder of the same name where one happens to be does not count before the data folder's."""
    write(tmp_path / "data", "mine")
    (tmp_path / "here" / "mine").mkdir(parents=True)
    (tmp_path / "here" / "mine" / "train.txt").write_text("1\tother\n0\tother\n")
    monkeypatch.chdir(tmp_path / "here")
    assert {path.parent for path in find_files("mine", tmp_path / "data")} == {tmp_path / "data" / "mine"}
    with pytest.raises(UnknownNameError):
        load_set("x" * 5000, tmp_path)


def table(folder, part, columns, ending="csv"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{part}.{ending}").write_text(f"label,{columns}\n0,1,2\n1,3,4\n")


def test_columns_are_matched_by_name(tmp_path):
    table(tmp_path / "t", "train", "x,y")
    table(tmp_path / "t", "test", "y,x")
    train, test = load_set("t", tmp_path)
    assert train.items.tolist() == [[1, 2], [3, 4]]
    assert test.items.tolist() == [[2, 1], [4, 3]]
    table(tmp_path / "t", "test", "x,z")
    with pytest.raises(FileFormatError, match=r"missing are 'y', extra 'z'"):
        load_set("t", tmp_path)


def test_parts_of_texts_and_numbers_are_refused(tmp_path):
    table(tmp_path / "t", "train", "x,y")
    (tmp_path / "t" / "test.txt").write_text("1\tgood\n")
    with pytest.raises(FileFormatError, match="one has texts, the other numbers"):
        load_set("t", tmp_path)


def test_svmlight_parts_may_lack_the_last_features(tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "train.svm").write_text("0 1:1 5:2\n1 2:1\n")
    (tmp_path / "s" / "test.svm").write_text("0 1:1\n1 2:1\n")
    train, test = load_set("s", tmp_path)
    assert train.items.shape[1] == test.items.shape[1] == 5
    (tmp_path / "s" / "test.svm").write_text("0 9:1\n1 2:1\n")
    with pytest.raises(FileFormatError, match=r"has 9 features, and .* only 5"):
        load_set("s", tmp_path)
