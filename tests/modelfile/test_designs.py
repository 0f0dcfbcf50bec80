"""Model files of quantifiers whose labelled items have a survey design."""

import numpy as np
import pytest
from benchmarks.design_worlds import Side, draw

from headcount import PACC, SLD, EDy, HDy, KDEyML, estimate
from headcount.modelfile import Columns, Model, load_model, save_model


@pytest.mark.parametrize("quantifier", [PACC(), HDy(), KDEyML(), EDy(), SLD(calibration="bcts")])
def test_weights_and_clusters_are_in_the_file(quantifier, tmp_path):
    generator = np.random.default_rng(0)
    side = Side(100, 5, 0.5, "informative")
    labelled, new = draw(generator, side, [0.5, 0.5], "labelled"), draw(generator, side, [0.7, 0.3], "new")
    quantifier.fit(labelled.outputs(), labelled.y, design=labelled.design)
    save_model(Model(quantifier, Columns("scores", ("0", "1"), "y")), tmp_path / "m.headcount")
    read = load_model(tmp_path / "m.headcount").quantifier
    before, after = (estimate(one, new.outputs(), design=new.design) for one in (quantifier, read))
    np.testing.assert_array_equal(after.shares, before.shares)
    np.testing.assert_array_equal([after.low, after.high], [before.low, before.high])
    np.testing.assert_array_equal(after.design.labelled_effects, before.design.labelled_effects)
