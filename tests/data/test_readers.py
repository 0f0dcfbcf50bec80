"""Corpora read from files of all formats."""

import gzip
import sqlite3
import tracemalloc
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from headcount import read_corpus
from headcount._validation import as_labels
from headcount.exceptions import DataError, FileFormatError

LINES = "1\tgood film\n0\tbad film, very\tbad\n\n1\tçok iyi\r\n"
TEXTS = ["good film", "bad film, very\tbad", "çok iyi"]


@pytest.fixture
def write(tmp_path):
    def to(name, content):
        path = tmp_path / name
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return to


@pytest.mark.parametrize("name", ["reviews.txt", "reviews.txt.gz", "reviews.test.TXT"])
def test_lines_of_label_and_text(write, name):
    corpus = read_corpus(write(name, LINES))
    assert corpus.items.tolist() == TEXTS
    assert corpus.labels.tolist() == [1, 0, 1]
    assert corpus.labels.dtype.kind == "i"
    assert corpus.source.endswith(name)


def test_byte_order_marks_and_gzipped_files_without_ending(tmp_path):
    path = tmp_path / "reviews.txt"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + LINES.encode()))
    assert read_corpus(path).labels.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("written", "expected"),
    [("pos neg", ["pos", "neg"]), ("01 1", ["01", "1"]), ("-1 1", [-1, 1]), ("1 2.0", ["1", "2.0"])],
)
def test_labels_are_integers_only_if_they_can_be_written_back(write, written, expected):
    lines = "".join(f"{label}\ttext\n" for label in written.split())
    assert read_corpus(write("a.txt", lines)).labels.tolist() == expected


@pytest.mark.parametrize(("name", "sep"), [("a.csv", ","), ("a.tsv", "\t"), ("a.csv.gz", ",")])
def test_tables_with_a_text_column(write, name, sep):
    rows = [["stars", "review", "month"], ["5", '"loved it, truly"', "may"], ["1", '"broke\nat once"', "june"]]
    path = write(name, "\n".join(sep.join(row) for row in rows))
    corpus = read_corpus(path, text="review", label="stars")
    assert corpus.items.tolist() == ["loved it, truly", "broke\nat once"]
    assert corpus.labels.tolist() == [5, 1]
    assert corpus.is_text


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_labels_and_texts_are_kept_as_written(write, name):
    sep = {"a.csv": ",", "a.tsv": "\t"}[name]
    rows = [["label", "text"], ["01", "007"], ["1", "1e3"], ["NA", "TRUE"], ["None", "nan"]]
    corpus = read_corpus(write(name, "\n".join(sep.join(row) for row in rows)))
    assert corpus.labels.tolist() == ["01", "1", "NA", "None"]
    assert corpus.items.tolist() == ["007", "1e3", "TRUE", "nan"]


def test_quotes_of_a_tab_separated_file_are_literal_unless_all_of_them_enclose_fields(write):
    lines = ["label\ttext", 'pos\t"Great', "neg\tbad", 'pos\tfine"']
    assert read_corpus(write("a.tsv", "\n".join(lines))).items.tolist() == ['"Great', "bad", 'fine"']
    lines = ["label\ttext", "neg\tbad", 'neg\t"a ""quoted"" one"']
    assert read_corpus(write("a.tsv", "\n".join(lines))).items.tolist() == ["bad", 'a "quoted" one']


def test_carriage_returns_end_lines(write):
    assert read_corpus(write("a.txt", "1\tgood\r0\tbad\r")).labels.tolist() == [1, 0]
    assert read_corpus(write("a.csv", "label,text\r\n1,good\r\n")).items.tolist() == ["good"]


def test_labels_too_large_for_integers_stay_strings(write):
    assert read_corpus(write("a.txt", "99999999999999999999\tx\n1\ty\n")).classes.tolist() == ["1", "9" * 20]


def test_missing_numbers_are_nan(write):
    corpus = read_corpus(write("a.csv", "label,x,y\n1,2,\n0,3,4\n"))
    assert np.isnan(corpus.items).tolist() == [[False, True], [False, False]]


def test_parquet_with_an_index_with_bytes_and_with_duplicate_columns(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"text": [b"good", b"bad"]}, index=pd.Index(["p", "n"], name="label")).to_parquet(path)
    corpus = read_corpus(path)
    assert (corpus.labels.tolist(), corpus.items.tolist()) == (["p", "n"], ["good", "bad"])
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table([[1], [2]], names=["x", "x"]), path)
    with pytest.raises(FileFormatError, match="more than one column named 'x'"):
        read_corpus(path)
    parquet.write_table(pa.table({"text": [b"\xff"]}), path)
    with pytest.raises(FileFormatError, match="UTF8"):
        read_corpus(path)


def test_embeddings_of_parquet_and_patterns_of_columns(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"e": [[1.0, 2.0], [3.0, 4.0]], "label": [True, False]}, index=["p", "n"]).to_parquet(path)
    corpus = read_corpus(path)
    assert (corpus.items.tolist(), corpus.feature_names) == ([[1, 2], [3, 4]], ("e[0]", "e[1]"))
    assert corpus.labels.tolist() == [True, False]
    pd.DataFrame({"e0": [1.0], "e1": [2.0], "other": ["x"]}).to_parquet(path)
    assert read_corpus(path, features="e*").feature_names == ("e0", "e1")


def test_svmlight_with_a_given_number_of_features(write):
    path = write("a.svm", "1 1:1\n0 2:1\n")
    assert read_corpus(path, n_features=5, zero_based=True).items.toarray().tolist() == [
        [0, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
    ]
    assert read_corpus(path, n_features=3, zero_based=False).items.shape == (2, 3)


def test_parquet_and_numeric_columns(tmp_path):
    path = tmp_path / "a.parquet"
    table = pd.DataFrame({"x": [1.0, 2.0], "y": [3, 4], "label": ["a", "b"]})
    table.to_parquet(path)
    corpus = read_corpus(path)
    assert corpus.items.tolist() == [[1, 3], [2, 4]]
    assert corpus.feature_names == ("x", "y")
    assert corpus.labels.tolist() == ["a", "b"]
    assert read_corpus(path, features=["y"]).items.tolist() == [[3], [4]]
    table.rename(columns={"label": "text"}).to_parquet(path)
    assert read_corpus(path).labels is None


def test_svmlight(write):
    corpus = read_corpus(write("a.svm", "-1 1:0.5 3:2\n1 2:1 # comment\n"))
    assert corpus.items.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0]]
    assert corpus.labels.tolist() == [-1, 1]
    assert not corpus.is_text
    assert read_corpus(write("b.libsvm", "0.5 1:1\n")).labels.tolist() == [0.5]


def test_the_format_may_be_named(write):
    assert len(read_corpus(write("data.dat", LINES), format="lines")) == 3


@pytest.mark.parametrize(
    ("name", "content", "options", "words"),
    [
        ("a.txt", "no tab here\n", {}, "line 1: expected label<TAB>text"),
        ("a.txt", "1\tfine\n\tno label\n", {}, "line 2: expected label<TAB>text"),
        ("a.txt", "", {}, "is empty"),
        ("a.csv", "  \n", {}, "is empty"),
        ("a.txt", LINES, {"label": "stars"}, "no named columns"),
        ("a.svm", "1 1:1\n", {"text": "t"}, "no named columns"),
        ("a.txt", b"\x89PNG\x00\x00", {}, "binary file"),
        ("a.txt", "1\tna\xefve\n".encode("latin1"), {}, "not UTF-8 text: line 1 has the byte 0xef"),
        ("a.txt", b"PAR1\x15\x00rest", {}, "binary file"),
        ("a.parquet", "label,text\n", {}, "is not a Parquet file, but was taken for parquet"),
        ("a.parquet", b"PAR1" + bytes(20) + b"PAR1", {}, "damaged Parquet"),
        ("a.svm", "this is no svmlight\n", {}, "can't be read as svmlight"),
        ("a.svm", "nan 1:1\n", {}, "not a finite number"),
        ("a.csv", "label,text\n", {}, "holds no rows below its header"),
        ("a.csv", "label,text\npos,good,film\n", {}, "line 2: expected 2 fields, as in the header, found 3"),
        ("a.csv", "label,x,x\n1,2,3\n", {}, "more than one column named 'x'"),
        ("a.csv", "label,age\n1,2\n", {"features": "height"}, "no column 'height'"),
        ("a.csv", 'a,b\n1,2\n"3,4\n5,6,7', {}, "the quote that opens in line 3 is not closed"),
        (
            "a.csv",
            "stars,review\n1,x\n",
            {"text": "words", "label": "stars"},
            "no column 'words'; its columns are 'stars', 'review'",
        ),
        ("a.csv", "label,text\n1,x\n,y\n", {}, "line 3, column 'label' has no label"),
        ("a.csv", "label,text\n1,x\n2,\n", {}, "line 3, column 'text' is empty"),
        ("a.csv", "label,words\n1,x\n", {}, "line 2, column 'words': 'x' is not a number"),
        ("a.csv", "label\n1\n", {}, "nothing to learn from"),
        ("a.csv", "label,text,x\n1,x,1\n", {"text": "text", "features": ["x"]}, "not both"),
        ("a.doc", "x", {}, "can't be inferred from its name"),
        ("noending", "x", {}, "can't be inferred from its name"),
        ("a.txt", "x", {"format": "word"}, "no format 'word'"),
    ],
)
def test_unusable_files_are_refused(write, name, content, options, words):
    path = write(name, content)
    with pytest.raises(DataError, match=words):
        read_corpus(path, **options)


def test_tables_of_every_source(tmp_path):
    """A corpus is read by the reader of all tables."""
    frame = pd.DataFrame({"text": ["good", "bad"], "label": ["p", "n"]})
    frame.to_json(tmp_path / "a.jsonl.gz", orient="records", lines=True)
    frame.to_csv(tmp_path / "a.csv.gz", index=False)
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        frame.to_sql("reviews", connection, index=False)
    query = f"{tmp_path}/a.db::select * from reviews"
    for source in (frame, *(tmp_path / name for name in ("a.jsonl.gz", "a.csv.gz", "a.xlsx")), query):
        corpus = read_corpus(source)
        assert (corpus.items.tolist(), corpus.labels.tolist()) == (["good", "bad"], ["p", "n"])


def test_missing_files_folders_and_damaged_gzip(tmp_path):
    with pytest.raises(DataError, match="There is no file"):
        read_corpus(tmp_path / "none.txt")
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        read_corpus(tmp_path / "folder.txt")
    (tmp_path / "plain.txt.gz").write_text(LINES)
    with pytest.raises(FileFormatError, match="not gzipped"):
        read_corpus(tmp_path / "plain.txt.gz")
    for spoil in (lambda b: b[:-12], lambda b: b[:20] + b"\xff\xff\xff" + b[23:]):
        (tmp_path / "cut.txt.gz").write_bytes(spoil(gzip.compress(LINES.encode() * 50)))
        with pytest.raises(FileFormatError, match="damaged gzip"):
            read_corpus(tmp_path / "cut.txt.gz")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "n_items", "n_classes", "positive"),
    [
        ("imdb/train.txt.gz", 25_000, 2, 0.5),
        ("kindle_devices/train.txt.gz", 3_821, 2, 0.917),
        ("amazon_devices_hp/train.txt.gz", 9_533, 2, 0.982),
        ("trec6/train.txt.gz", 5_444, 6, None),
    ],
)
def test_the_real_sets_have_their_sizes_and_shares(data_dir, name, n_items, n_classes, positive):
    corpus = read_corpus(data_dir / name)
    assert (len(corpus), len(corpus.classes)) == (n_items, n_classes)
    if positive is not None:
        assert corpus.prevalence[1] == pytest.approx(positive, abs=0.0006)


@pytest.mark.data
def test_a_real_table_with_a_header(data_dir):
    corpus = read_corpus(data_dir / "amazon_devices" / "all.tsv.gz", text="text", label="stars")
    assert corpus.classes.tolist() == [1, 2, 3, 4, 5]


def test_a_label_that_is_too_long_is_refused_before_arrays_are_made(tmp_path):
    rows = ["text,label", *(f"word,{'ab'[i % 2]}" for i in range(20_000)), f"word,{'x' * 100_000}"]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    (tmp_path / "t.txt").write_text("\n".join(f"{row.rpartition(',')[2]}\tword" for row in rows[1:]))
    tracemalloc.start()
    for name, words in (
        ("t.csv", "line 20,002, column 'label': the label has 100,000 characters"),
        ("t.txt", "A label has"),
    ):
        with pytest.raises(DataError, match=words) as caught:
            read_corpus(tmp_path / name)
        assert len(str(caught.value)) < 400
    with pytest.raises(DataError, match="A label of y has 100,000 characters"):
        as_labels([*("ab" * 10_000), "x" * 100_000])
    assert tracemalloc.get_traced_memory()[1] < 100e6
    tracemalloc.stop()
