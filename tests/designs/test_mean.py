"""Weighted means under survey designs: R's survey package and samplics give the same figures."""

import csv
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from headcount import SurveyDesign, survey_mean
from headcount.exceptions import DataError

FOLDER = Path(__file__).parent
with Path(FOLDER, "survey_items.csv").open() as file:
    ROWS = list(csv.DictReader(file))
with Path(FOLDER, "survey_reference.csv").open() as file:
    REFERENCE = list(csv.DictReader(file))


def column(name, kind=str, rows=ROWS):
    return np.array([kind(row[name]) for row in rows])


SIZES = {what: {row["stratum"]: int(row[f"stratum_{what}"]) for row in ROWS} for what in ("items", "clusters")}
WEIGHTS, STRATA, CLUSTERS = column("weight", float), column("stratum"), column("cluster")
MAINLAND = np.flatnonzero(STRATA != "isle")
DESIGNS = {
    "equal": SurveyDesign(weights=np.ones(len(ROWS))),
    "weights": SurveyDesign(WEIGHTS),
    "clusters": SurveyDesign(clusters=CLUSTERS),
    "weights_clusters": SurveyDesign(WEIGHTS, clusters=CLUSTERS),
    "strata": SurveyDesign(WEIGHTS, STRATA),
    "strata_clusters": SurveyDesign(WEIGHTS[MAINLAND], STRATA[MAINLAND], CLUSTERS[MAINLAND]),
    "lonely_cluster": SurveyDesign(WEIGHTS, STRATA, CLUSTERS),
    "population_of_items": SurveyDesign(WEIGHTS, population_size=sum(SIZES["items"].values())),
    "strata_of_items": SurveyDesign(WEIGHTS, STRATA, population_size=SIZES["items"]),
    "population_of_clusters": SurveyDesign(
        WEIGHTS, clusters=CLUSTERS, population_clusters=sum(SIZES["clusters"].values())
    ),
    "strata_of_clusters": SurveyDesign(WEIGHTS, STRATA, CLUSTERS, population_clusters=SIZES["clusters"]),
}


def agrees(line):
    values = column(line["column"], float)
    values = values[MAINLAND] if line["design"] == "strata_clusters" else values
    found = survey_mean(values, DESIGNS[line["design"]])
    figures = found.mean[0], found.standard_error[0], found.design_effects[0]
    given = [float(line[name]) for name in ("mean", "standard_error", "design_effect")]
    np.testing.assert_allclose(figures, given, rtol=1e-9)
    assert found.degrees == int(line["degrees"])


@pytest.mark.parametrize("line", REFERENCE, ids=lambda line: f"{line['design']}-{line['column']}")
def test_means_are_those_of_rs_survey_package(line):
    """Recorded: survey 4.1-1, R 4.2.2, by tests/designs/survey_reference.R."""
    agrees(line)


def test_the_recorded_figures_are_what_r_says_now():
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not there: the recorded figures stand (Debian: r-cran-survey)")
    done = subprocess.run(
        ["Rscript", str(FOLDER / "survey_reference.R")], capture_output=True, text=True, check=False, timeout=120
    )
    if "there is no package called" in done.stderr:
        pytest.skip("R lacks the package survey: the recorded figures stand (Debian: r-cran-survey)")
    assert done.returncode == 0, done.stderr
    lines = list(csv.DictReader(done.stdout.splitlines()))
    assert [line["design"] for line in lines] == [line["design"] for line in REFERENCE]
    for line in lines:
        agrees(line)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", ["weights", "weights_clusters", "strata", "strata_clusters", "strata_clusters_fpc"])
def test_means_are_those_of_samplics(name):
    samplics = pytest.importorskip("samplics", reason="samplics is not there (pip install samplics): R's figures stand")
    rows = MAINLAND if "strata_clusters" in name else np.arange(len(ROWS))
    values, more = column("value", float), {}
    sizes = {name: size for name, size in SIZES["clusters"].items() if name != "isle"}
    if "strata" in name:
        more["stratum"] = STRATA[rows]
    if "clusters" in name:
        more["psu"] = CLUSTERS[rows]
    if name.endswith("fpc"):
        more["fpc"] = {one: 1 - len(set(CLUSTERS[one == STRATA])) / sizes[one] for one in sorted(sizes)}
    theirs = samplics.TaylorEstimator(samplics.PopParam.mean)
    theirs.estimate(y=values[rows], samp_weight=WEIGHTS[rows], **more)
    design = DESIGNS.get(name)
    if design is None:
        design = SurveyDesign(WEIGHTS[rows], STRATA[rows], CLUSTERS[rows], population_clusters=sizes)
    ours = survey_mean(values[rows], design)
    assert ours.mean[0] == pytest.approx(theirs.point_est, rel=1e-9)
    assert ours.standard_error[0] == pytest.approx(theirs.stderror, rel=1e-9)
    assert ours.degrees == theirs.degree_of_freedom


def test_several_columns_have_a_covariance():
    values = np.column_stack([column("value", float), column("success", float)])
    found = survey_mean(values, DESIGNS["lonely_cluster"])
    total = survey_mean(values.sum(axis=1), DESIGNS["lonely_cluster"])
    assert found.covariance.sum() == pytest.approx(total.covariance[0, 0])
    low, high = found.interval(0.9)
    assert (low < found.mean).all()
    assert (high > found.mean).all()


def test_an_interval_holds_as_often_as_it_says():
    """Clusters of unequal sizes: 95 % of 1,000 intervals hold, Monte Carlo error 0.7."""
    generator = np.random.default_rng(0)
    held = 0
    for _ in range(1000):
        clusters = np.repeat(np.arange(30), generator.integers(1, 8, 30))
        values = generator.standard_normal(30)[clusters] + generator.standard_normal(len(clusters))
        low, high = survey_mean(values, SurveyDesign(clusters=clusters)).interval()
        held += low[0] <= 0.0 <= high[0]
    assert 0.925 <= held / 1000 <= 0.975


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, np.nan, 2.0], "values must be finite numbers"),
        (["a", "b", "a"], "compare labels first"),
        ([1.0, 2.0], "The design is of 3 items, but there are 2 values"),
    ],
)
def test_what_has_no_mean_is_refused(values, message):
    with pytest.raises(DataError, match=message):
        survey_mean(values, SurveyDesign(clusters=["a", "b", "c"]))


def test_the_level_and_single_items_are_checked():
    with pytest.raises(DataError, match="level must be between 0 and 1"):
        survey_mean([1.0, 2.0], SurveyDesign([1.0, 1.0])).interval(95)
    with pytest.raises(DataError, match="one item or cluster only"):
        survey_mean([1.0], SurveyDesign([1.0]))
