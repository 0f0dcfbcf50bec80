"""Survey designs in a stream: the same as with all items at hand, to the bit whatever the split, and refused in a sentence."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest

from headcount import ACC, PACC, SLD, DyS, EDy, HDy, KDEyML, Outputs, Samples, SurveyDesign, estimate
from headcount.checks import LabelledItems
from headcount.checks.item_features import ItemFeatures
from headcount.desk import compare_tables
from headcount.exceptions import DataError
from headcount.modelfile import Columns, Model
from headcount.quantifiers import Posteriors
from headcount.stream import DesignColumns, Reading, Recipe, Tally, estimate_groups, tally_files

CLUSTERS, ITEMS = 80, 1500


def clustered(generator, n, share, n_clusters):
    """Return classes, posteriors and clusters of items, where items of a cluster are alike."""
    clusters = generator.integers(0, n_clusters, n)
    typical = generator.random(n_clusters) < share
    y = np.where(generator.random(n) < 0.7, typical[clusters], generator.random(n) < share).astype(int)
    p = 1.0 / (1.0 + np.exp(-(1.5 * generator.standard_normal(n) + 3.0 * y - 1.5)))
    return y, np.column_stack([1.0 - p, p]), clusters


@pytest.fixture(scope="module")
def labelled():
    y, P, _ = clustered(np.random.default_rng(1), 800, 0.4, 50)
    return y, P


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(2)
    _, P, clusters = clustered(generator, ITEMS, 0.6, CLUSTERS)
    return pd.DataFrame(
        {
            "month": np.where(np.arange(ITEMS) < 600, "may", "june"),
            "neg": P[:, 0],
            "pos": P[:, 1],
            "w": generator.choice([0.02, 1.0, 4.0, 700.0], ITEMS),
            "author": [f"author {c}" for c in clusters],
            "region": [f"region {c % 3}" for c in clusters],
        }
    )


def fitted(method, labelled):
    y, P = labelled
    return method.fit(Outputs.from_posteriors(P, [0, 1]), y)


def tally(quantifier, labelled, tables, columns, scored="columns"):
    y, P = labelled
    recipe = Recipe(quantifier, (P, y), design=DesignColumns(**columns))
    return tally_files(tables, Reading(recipe, "scores", ("neg", "pos"), by="month"))


DESIGNS = [
    {"cluster": "author"},
    {"weight": "w"},
    {"stratum": "region", "weight": "w"},
    {"stratum": "region", "cluster": "author", "population_size": 4000},
    {"stratum": "region", "weight": "w", "cluster": "author"},
]


def survey_design(table, weight=None, stratum=None, cluster=None, population_size=None):
    named = {"weights": weight, "strata": stratum, "clusters": cluster}
    columns = {name: table[column] for name, column in named.items() if column is not None}
    return SurveyDesign(**columns, population_size=population_size)


@pytest.mark.parametrize("columns", DESIGNS, ids=lambda columns: "-".join(columns))
@pytest.mark.parametrize("method", [PACC, ACC, EDy])
def test_shares_and_intervals_are_those_of_all_items_at_hand(method, columns, table, labelled):
    quantifier = fitted(method(random_state=0), labelled)
    groups = estimate_groups(tally(quantifier, labelled, [table], columns))
    outputs = Outputs.from_posteriors(table[["neg", "pos"]].to_numpy(), [0, 1])
    samples = Samples.from_groups(table["month"])
    expected = estimate(quantifier, outputs, samples, design=survey_design(table, **columns))
    assert groups.names == list(expected.names)
    np.testing.assert_allclose(groups.shares, expected.shares, atol=1e-9)
    np.testing.assert_allclose(groups.low, expected.low, atol=1e-7)
    np.testing.assert_allclose(groups.high, expected.high, atol=1e-7)
    np.testing.assert_allclose(groups.design_effects, expected.design.effects, rtol=1e-6)
    np.testing.assert_array_equal(groups.estimate.design.clusters, expected.design.clusters)


@pytest.mark.parametrize("columns", [DESIGNS[1], DESIGNS[4]], ids=["weights", "all"])
@pytest.mark.parametrize("method", [HDy(), DyS(), SLD(calibration="bcts"), KDEyML()], ids=lambda m: type(m).__name__)
def test_where_vectors_depend_on_the_shares_design_effects_are_those_at_the_labelled_ones(
    method, columns, table, labelled
):
    quantifier = fitted(method.set_params(random_state=0), labelled)
    groups = estimate_groups(tally(quantifier, labelled, [table], columns))
    outputs = Outputs.from_posteriors(table[["neg", "pos"]].to_numpy(), [0, 1])
    expected = estimate(
        quantifier, outputs, Samples.from_groups(table["month"]), design=survey_design(table, **columns)
    )
    np.testing.assert_allclose(groups.shares, expected.shares, atol=1e-4)
    np.testing.assert_allclose(groups.design_effects, expected.design.effects, rtol=0.05)
    np.testing.assert_allclose(groups.high - groups.low, expected.high - expected.low, rtol=0.03)


@pytest.mark.parametrize("columns", DESIGNS, ids=lambda columns: "-".join(columns))
@pytest.mark.parametrize("method", [PACC(), HDy(), SLD(calibration="bcts")], ids=lambda m: type(m).__name__)
def test_any_split_and_any_order_of_files_give_the_same_bits(method, columns, table, labelled):
    quantifier = fitted(method.set_params(random_state=0), labelled)
    parts = [table[:1], table[1:700], table[700:701], table[701:]]

    def figures(tables):
        groups = estimate_groups(tally(quantifier, labelled, tables, columns), total=True)
        errors = [one.estimate.design for one in (groups, groups.total)]
        numbers = [groups.shares, groups.low, groups.high, groups.total.shares, groups.total.low]
        return [*numbers, *(e.target for e in errors), *([] if groups.totals is None else [groups.totals])]

    whole = figures([table])
    for order in itertools.islice(itertools.permutations(parts), 0, None, 7):
        for one, other in zip(whole, figures(list(order)), strict=True):
            np.testing.assert_array_equal(one, other)


def test_weights_of_any_size_give_the_same_shares_and_intervals(table, labelled):
    quantifier = fitted(PACC(random_state=0), labelled)
    plain = estimate_groups(tally(quantifier, labelled, [table], {"weight": "w"}))
    for factor in (1e-9, 3e7):
        scaled = table.assign(w=table["w"] * factor)
        groups = estimate_groups(tally(quantifier, labelled, [scaled], {"weight": "w"}))
        np.testing.assert_allclose(groups.shares, plain.shares, atol=1e-9)
        np.testing.assert_allclose(groups.low, plain.low, atol=1e-8)
        np.testing.assert_allclose(groups.totals, plain.totals * factor, rtol=1e-9)


def test_the_total_is_that_of_all_items_and_clusters_in_several_groups_are_one(table, labelled):
    quantifier = fitted(PACC(random_state=0), labelled)
    design = {"weight": "w", "cluster": "author", "stratum": "region"}
    y, P = labelled
    recipe = Recipe(quantifier, (P, y), design=DesignColumns(**design))
    alone = estimate_groups(tally_files([table], Reading(recipe, "scores", ("neg", "pos"))))
    total = estimate_groups(tally(quantifier, labelled, [table], design), total=True).total
    np.testing.assert_allclose(total.low, alone.low, atol=1e-12)
    assert total.estimate.design.clusters[0] == len(set(table["author"]))


@pytest.mark.parametrize("scored", ["columns", "outputs"])
def test_scores_and_items_that_are_scored_here_are_added_up_alike(scored, table, labelled):
    quantifier = fitted(PACC(random_state=0), labelled)
    from headcount.stream.drawn_rows import DrawnRows
    from headcount.tables import TableFile

    columns = DesignColumns(weight="w", cluster="author", stratum="region")
    y, P = labelled
    recipe = Recipe(quantifier, (P, y), design=columns)
    one = Tally(recipe)
    for batch in TableFile(table).batches({**columns.kinds(), "neg": "number", "pos": "number"}):
        drawn = DrawnRows.read(batch, columns)
        C = np.stack([batch.numbers("neg"), batch.numbers("pos")])
        if scored == "columns":
            one.add_columns(C, drawn=drawn)
        else:
            one.add(Outputs.from_posteriors(C.T, [0, 1]), drawn=drawn)
    expected = estimate_groups(tally_files([table], Reading(recipe, "scores", ("neg", "pos"))))
    groups = estimate_groups(one)
    np.testing.assert_allclose(groups.low, expected.low, atol=1e-9)
    np.testing.assert_allclose(groups.design_effects, expected.design_effects, rtol=1e-6)


def test_clusters_that_are_numbers_texts_or_categories_are_the_same_clusters(table, labelled):
    quantifier = fitted(PACC(random_state=0), labelled)
    numbers = table.assign(author=table["author"].str.removeprefix("author ").astype(int))
    texts = numbers.assign(author=numbers["author"].astype(str))
    category = texts.assign(author=texts["author"].astype("category"))
    whole = numbers.assign(author=numbers["author"].astype(float))
    found = [
        estimate_groups(tally(quantifier, labelled, [one], {"cluster": "author"})).low
        for one in (numbers, texts, category, whole)
    ]
    for low in found[1:]:
        np.testing.assert_array_equal(low, found[0])
    mixed = estimate_groups(tally(quantifier, labelled, [numbers[:500], texts[500:]], {"cluster": "author"}))
    np.testing.assert_array_equal(mixed.low, found[0])


@pytest.mark.parametrize(
    ("change", "columns", "message"),
    [
        ({"w": -1.0}, {"weight": "w"}, "row 3.*the weight is -1; weights must be finite and above 0"),
        ({"w": 0.0}, {"weight": "w"}, "the weight is 0"),
        ({"w": np.nan}, {"weight": "w"}, "there is no weight"),
        ({"w": np.inf}, {"weight": "w"}, "the weight is inf"),
        ({"author": None}, {"cluster": "author"}, "row 3.*the cluster is missing"),
        ({"author": "  "}, {"cluster": "author"}, "row 3.*the cluster is missing"),
        ({"region": ""}, {"stratum": "region"}, "row 3.*the stratum is missing"),
        (
            {"region": "region 9"},
            {"stratum": "region", "cluster": "author"},
            r"row \d+.*: the cluster 'author \d+' lies in several strata, 'region",
        ),
        ({}, {"weight": "w", "population_size": 1499}, "The population has 1,499 items, fewer than the 1,500"),
        ({}, {"stratum": "region", "population_size": {"region 0": 9e9}}, "lacks the strata 'region 1', 'region 2'"),
        ({}, {"weight": "w", "population_size": {"x": 10}}, "Sizes of strata need the column of strata"),
    ],
)
def test_what_makes_no_design_is_refused_in_a_sentence(change, columns, message, table, labelled):
    quantifier = fitted(PACC(random_state=0), labelled)
    bad = table.copy()
    for column, value in change.items():
        bad.loc[2, column] = value
    with pytest.raises(DataError, match=message):
        estimate_groups(tally(quantifier, labelled, [bad], columns))


def test_one_cluster_is_refused(table, labelled):
    quantifier = fitted(PACC(random_state=0), labelled)
    with pytest.raises(DataError, match="All items are in one cluster"):
        estimate_groups(tally(quantifier, labelled, [table.assign(author="ann")], {"cluster": "author"}))


def test_likelihoods_refuse_weights_that_a_sketch_can_not_count(table, labelled):
    quantifier = fitted(SLD(calibration="bcts", random_state=0), labelled)
    with pytest.raises(DataError, match=r"weights must be from 0\.0078125 to"):
        estimate_groups(tally(quantifier, labelled, [table.assign(w=1e-6)], {"weight": "w"}))


def test_memory_grows_with_clusters_and_not_with_items(table, labelled):
    quantifier = fitted(PACC(random_state=0), labelled)
    few = tally(quantifier, labelled, [table], {"cluster": "author"})
    many = tally(quantifier, labelled, [table] * 5, {"cluster": "author"})
    assert many.design.n_clusters == few.design.n_clusters <= 2 * CLUSTERS
    assert many.n_items == 5 * few.n_items


def test_items_of_a_cluster_that_are_alike_raise_no_alarm_in_a_stream_either():
    generator = np.random.default_rng(0)

    def drawn(n_clusters):
        clusters = np.repeat(np.arange(n_clusters), 10)
        y = (generator.random(len(clusters)) < 0.5).astype(int)
        own = 2.0 * generator.standard_normal((n_clusters, 3))[clusters] + generator.standard_normal((len(y), 3))
        return np.column_stack([generator.standard_normal(len(y)) + 2.0 * y, own]), y, clusters

    alarms, plain, names = [], [], tuple("abcd")
    for _ in range(6):
        (X, y, own), (Z, _, author) = drawn(50), drawn(50)
        table = pd.DataFrame(Z, columns=list(names)).assign(author=author)
        for design, found in ((SurveyDesign(clusters=own), alarms), (None, plain)):
            quantifier = PACC(random_state=0).fit(X, y, design=design)
            columns = None if design is None else DesignColumns(cluster="author")
            outputs, codes = quantifier.validation_items()
            features = ItemFeatures(X, names, False)
            known = LabelledItems(features, y, quantifier.outputs(X).posteriors, None if design is None else own)
            recipe = Recipe(quantifier, (Posteriors().vectors(outputs), codes), items=known, design=columns)
            groups = estimate_groups(tally_files([table], Reading(recipe, "numbers", names)))
            found.append(groups.reports[0].p_items < 0.025)
    assert sum(alarms) <= 1 < 3 <= sum(plain)


def test_tallies_with_designs_can_be_sent_between_processes(table, labelled):
    design = {"weight": "w", "cluster": "author", "stratum": "region"}
    one = tally(fitted(PACC(random_state=0), labelled), labelled, [table], design)
    there = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(estimate_groups(there).low, estimate_groups(one).low)
    assert pickle.loads(pickle.dumps(estimate_groups(there))).names == ["june", "may"]


def test_files_with_a_design_are_compared_like_groups_of_one(table, labelled, tmp_path):
    quantifier = fitted(PACC(random_state=0), labelled)
    model = Model(quantifier, Columns("scores", ("neg", "pos"), "y"))
    design = DesignColumns(weight="w", cluster="author")
    parts = [table[table["month"] == month] for month in ("may", "june")]
    paths = [tmp_path / f"{name}.parquet" for name in ("may", "june")]
    for part, path in zip(parts, paths, strict=True):
        part.to_parquet(path)
    files = compare_tables(model, paths, design=design)
    groups = compare_tables(model, [table], by="month", first="may", second="june", design=design)
    np.testing.assert_allclose(files.difference.low, groups.difference.low, atol=1e-12)
    apart = table.assign(author=table["author"] + table["month"])
    other = compare_tables(model, [apart], by="month", first="may", second="june", design=design)
    assert np.ptp([files.difference.low[1], files.difference.high[1]]) < np.ptp(
        [other.difference.low[1], other.difference.high[1]]
    )
