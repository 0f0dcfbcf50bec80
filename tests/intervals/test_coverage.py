"""Coverage of the intervals, by seeded simulation, and the table's own arithmetic. The full table is docs/coverage.md."""

import gzip
import json
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks.coverage import __main__ as command
from benchmarks.coverage import simulate
from benchmarks.coverage.cell import ALL, Cell
from benchmarks.coverage.cells import all_cells
from benchmarks.coverage.figures import failures, merged, shortfalls
from benchmarks.coverage.learners import forget, make_classifier
from benchmarks.coverage.page import write_page
from benchmarks.coverage.real import Table, Texts, has_data
from benchmarks.coverage.worlds import Confusion, Gaussian, Scores, UnequalGaussian
from sklearn.linear_model import LogisticRegression

from headcount import PACC

CELLS = {cell.name: cell for cell in all_cells()}
FRIENDLY = Cell("friendly", "Group", Scores(2, 2.0), (0.8, 0.2), 200, 500, methods=(*ALL, "SLD plain"), reported=())
HARD = (
    "absent: 3 classes, true posteriors",
    "rare: too sure, 0.02",
    "folds: 158 features, 200 labelled, 5 folds",
    "region: 3 classes, 60 labelled, scores",
    "difference: .1 to .5, 50 labelled",
    "no change: both .002, scores",
)


@pytest.mark.parametrize("estimand", ["population", "sample"])
def test_coverage_is_about_95_percent(estimand):
    """200 simulations, Monte Carlo error 1.5 points: detects only large deviations."""
    figures = merged([simulate.block(replace(FRIENDLY, estimand=estimand), 1, 0, 200)])
    for method in FRIENDLY.methods:
        assert 0.90 <= figures.mean(method, "held")[1] <= 0.99, method


@pytest.mark.slow
@pytest.mark.parametrize("name", [*HARD, *(n for n in CELLS if n.startswith("scores, ") and "200 labelled, 500" in n)])
def test_cells_meet_their_requirements(name):
    """1,000 simulations, Monte Carlo error 0.7 points."""
    assert failures([CELLS[name]], {name: merged([simulate.block(CELLS[name], 2, 0, 1000)])}, {}) == []


def test_cells_are_well_formed():
    assert len(CELLS) == len(all_cells())  # names are unique
    for cell in CELLS.values():
        for shares in (cell.shares, cell.second, cell.labelled_shares):
            assert shares is None or (sum(shares) == pytest.approx(1.0) and len(shares) == len(cell.shares)), cell.name
        if isinstance(cell.world, Gaussian | Scores | Confusion):
            assert cell.world.k == len(cell.shares), cell.name


@pytest.mark.parametrize(
    ("change", "floor"),
    [
        ({}, 0.93),
        ({"shares": (1.0, 0.0)}, 0.92),
        ({"world": Gaussian(), "validation": 5}, 0.92),
        ({"world": Gaussian(), "validation": 5, "labelled": 500}, 0.93),
        ({"validation": 5}, 0.93),  # scores are given: there are no folds
        ({"level": 0.99}, 0.98),
    ],
)
def test_floor_of_coverage(change, floor):
    assert replace(FRIENDLY, **change).floor == floor


def test_blocks_add_up_to_the_same_simulations():
    cell = replace(FRIENDLY, world=Gaussian(2, 2.0), methods=ALL)
    parts = merged([simulate.block(cell, 3, 0, 3), simulate.block(cell, 3, 3, 4)]).methods
    for method, sums in merged([simulate.block(cell, 3, 0, 7)]).methods.items():
        for name in ("n", "held", "width", "error", "at_end"):
            np.testing.assert_allclose(parts[method][name], sums[name])


def test_every_kind_of_cell_gives_figures():
    two = replace(FRIENDLY, world=Gaussian(2, 2.0), methods=ALL, labelled=60, target=100)
    three = replace(two, world=Gaussian(3, 3.0), shares=(0.2, 0.3, 0.5), check=True)
    for cell, names in (
        (two, {"held", "width", "vacuous", "zero", "at_end"}),
        (replace(two, auc=0.1), {"informative", "informative_vacuous", "auc"}),
        (three, {"joint", "joint_n", "alarm"}),
        (replace(two, kind="difference"), {"held", "rejected", "tiny"}),
        (replace(two, kind="family"), {"any"}),
        (replace(two, kind="stability", validation=0.4), {"deviation", "width"}),
        (replace(two, kind="rename"), {"changed"}),
    ):
        for method, sums in simulate.block(cell, 4, 0, 1)["methods"].items():
            assert "raised" not in sums, sums["raised_reason"]
            assert names | {"n"} <= set(sums), (cell.kind, method)


def test_what_is_refused_or_raised_is_counted_and_does_not_stop():
    counted = simulate.block(replace(FRIENDLY, methods=("CC", "PACC"), estimand="sample"), 5, 0, 3)["methods"]
    assert counted["CC"]["refused"] == 3
    assert "No interval for CC" in counted["CC"]["refused_reason"]
    assert counted["PACC"]["n"] == 3
    raised = simulate.block(replace(FRIENDLY, methods=("no such method",)), 5, 0, 2)
    figures = merged([raised])
    assert "raised in 2" in shortfalls(FRIENDLY, figures, "no such method", {})[0]


def sums(held, n=400, **more):
    zero = [0.0] * len(held)
    return {
        "n": n,
        "held": [n * h for h in held],
        "width": [n * 0.1] * len(held),
        "vacuous": zero,
        "zero": zero,
        "at_end": 0.0,
    } | more


def judged(cell, held, before=None, **more):
    row = {"simulations": 400, "seconds": 1.0, "methods": {"ACC": sums(held, **more)}}
    return shortfalls(cell, merged([row]), "ACC", before or {})


def test_coverage_is_judged_with_two_monte_carlo_errors():
    # 400 simulations: 93 - 2 * 1.28 = 90.4; 99 + 2 * 0.5 = 99.99
    assert judged(FRIENDLY, (0.905, 0.905)) == []
    assert judged(FRIENDLY, (0.90, 0.90)) == ["class 1 covers 90.0, least 93"]
    assert judged(FRIENDLY, (1.0, 1.0)) == ["class 1 covers 100.0, most 99"]
    assert judged(replace(FRIENDLY, target=40), (1.0, 1.0)) == []  # 8 items of the class are expected
    assert judged(replace(FRIENDLY, identified=False), (1.0, 1.0)) == []
    assert judged(replace(FRIENDLY, reported=("ACC",)), (0.1, 0.1)) == []


def test_regions_zero_widths_vacuous_intervals_and_false_positives_are_judged():
    three = replace(FRIENDLY, shares=(0.2, 0.3, 0.5))
    good = (0.95, 0.95, 0.95)
    assert judged(three, good, joint=380.0, joint_n=400) == []
    assert judged(three, good, joint=350.0, joint_n=400) == ["region covers 87.5, least 92"]
    assert judged(three, good, joint=400.0, joint_n=400) == ["region covers 100.0, most 99"]
    assert judged(three, good, zero=[0.0, 2.0, 0.0]) == ["2 intervals of zero width"]
    informative = {"informative": 100.0, "informative_vacuous": 11.0}
    assert judged(replace(FRIENDLY, auc=0.9), (0.95, 0.95), **informative) == ["vacuous 11.0 %, most 5"]
    same = replace(FRIENDLY, kind="difference")
    assert judged(same, (0.95, 0.95), rejected=[35.0, 35.0]) == []
    assert judged(same, (0.95, 0.95), rejected=[40.0, 40.0]) == ["false positives 10.0 %, most 6.5"]
    assert judged(replace(same, second=(0.5, 0.5)), (0.95, 0.95), rejected=[400.0, 400.0]) == []
    assert judged(replace(FRIENDLY, kind="family"), (0, 0), any=40.0) == ["any rejection 10.0 %, most 6.5"]
    assert judged(replace(FRIENDLY, kind="rename"), (0, 0), changed=1e-3) == ["renaming changes shares by 1.0e-03"]
    seeds = replace(FRIENDLY, kind="stability")
    assert judged(seeds, (0.95, 0.95), deviation=[16.0, 16.0]) == ["deviation over seeds is 0.40 of the width"]


def test_width_is_compared_with_the_earlier_version_where_that_covers():
    def earlier(held, width):
        return {"friendly": {"ACC": {"n": 400, "held": [held, held], "width": [width, width]}}}

    good = (0.95, 0.95)
    assert judged(FRIENDLY, good, earlier(0.95, 0.09)) == []
    assert judged(FRIENDLY, good, earlier(0.95, 0.08)) == ["class 1 is 0.1000 wide, 1.25 times the earlier version's"]
    assert judged(FRIENDLY, good, earlier(0.94, 0.08)) == []


def test_remembered_fits_change_nothing():
    generator = np.random.default_rng(6)
    y = generator.integers(0, 2, 300)
    X = Gaussian(2, 2.0, 3).draw(y, generator)
    forget()
    for _ in range(2):  # the second time from memory
        remembered = PACC(make_classifier("LR"), validation=5, random_state=0).fit(X[:200], y[:200]).predict(X[200:])
    plain = PACC(LogisticRegression(max_iter=500), validation=5, random_state=0).fit(X[:200], y[:200]).predict(X[200:])
    np.testing.assert_array_equal(remembered, plain)


def test_command_goes_on_from_its_file_and_fails_where_a_requirement_is_not_met(tmp_path, monkeypatch, capsys):
    cells = [replace(FRIENDLY, methods=("ACC",), simulations=20)]
    monkeypatch.setattr(command, "all_cells", lambda: cells)
    figures, page, before = tmp_path / "cells.jsonl", tmp_path / "coverage.md", tmp_path / "before.json"
    arguments = ["--jobs", "1", "--cells", str(figures), "--out", str(page), "--before", str(before)]
    monkeypatch.setattr(sys, "argv", ["coverage", *arguments, "--keep-as-before", str(before)])
    command.main()
    assert len(figures.read_text().splitlines()) == 1
    assert "All requirements are met." in page.read_text()
    monkeypatch.setattr(simulate, "block", None)  # nothing is simulated again
    command.main()
    kept = json.loads(before.read_text())
    kept["friendly"]["ACC"] |= {"held": [0.95, 0.95], "width": [0.01, 0.01]}
    before.write_text(json.dumps(kept))
    monkeypatch.setattr(sys, "argv", ["coverage", *arguments])
    with pytest.raises(SystemExit) as stop:
        command.main()
    assert stop.value.code == 1
    assert "times the earlier version's" in capsys.readouterr().out


def test_page_lists_the_worst_cell_first(tmp_path):
    cells = [replace(FRIENDLY, name=name, methods=("ACC",)) for name in ("better", "worse")]
    rows = {
        name: {"simulations": 400, "seconds": 1.0, "methods": {"ACC": sums((c, c))}}
        for name, c in (("better", 0.95), ("worse", 0.8))
    }
    write_page(tmp_path / "page.md", cells, {name: merged([row]) for name, row in rows.items()}, {}, 7, "abc")
    text = (tmp_path / "page.md").read_text()
    assert "- worse | ACC: class 1 covers 80.0, least 93" in text
    assert text.index("| worse | ACC | 80.0") < text.index("| better | ACC | 95.0")


def test_real_items_are_drawn_once_a_simulation(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADCOUNT_DATA", str(tmp_path))
    labels = np.arange(40) % 2
    pd.DataFrame({"x0": np.arange(40.0), "y": labels, "part": "train"}).to_parquet(tmp_path / "numbers.parquet")
    (tmp_path / "words").mkdir()
    for part in ("train", "test"):
        with gzip.open(tmp_path / "words" / f"{part}.txt.gz", "wt") as file:
            file.writelines(
                f"{label}\tword{i} {'good' if label else 'bad'} film\n" for i, label in enumerate(labels[:20])
            )
    assert not has_data(Table("no such table"))
    generator = np.random.default_rng(8)
    for world in (Table("numbers"), Texts("words")):
        assert has_data(world)
        assert world.k == 2
        codes = np.repeat([0, 1], 10)
        for _ in range(2):  # all items are there again in the next simulation
            world.start(generator)
            first, second = world.draw(codes, generator), world.draw(codes, generator)
            assert first.shape[0] == second.shape[0] == 20
            with pytest.raises(IndexError):
                world.draw([0], generator)
        if isinstance(world, Table):
            assert set(first[:, 0]).isdisjoint(second[:, 0])
            np.testing.assert_array_equal(first[:, 0] % 2, codes)


def test_unequal_classes_keep_their_centres():
    codes = np.repeat([0, 1], 20_000)
    X = UnequalGaussian(2, 2.0, 1).draw(codes, np.random.default_rng(9))
    np.testing.assert_allclose(X[codes == 1].mean(axis=0), [0.0, np.sqrt(2), 0.0], atol=0.05)
    np.testing.assert_allclose(X[codes == 1].std(axis=0), 2.0, atol=0.05)
    np.testing.assert_allclose(X[codes == 0].std(axis=0), 1.0, atol=0.05)
