"""Write model files with the versions here, or read those that other versions wrote: they must give the same shares.

``python .ci/model_files.py write FOLDER``, then with another Python ``python .ci/model_files.py read FOLDER``.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from headcount import (
    ACC,
    CC,
    PACC,
    PCC,
    SLD,
    BayesianCC,
    HDy,
    LogTfidf,
    NewtonLinearSVC,
    NewtonLogisticRegression,
    SVMperf,
)
from headcount.features import TermWeights
from headcount.learners import BoostedTrees, Vote
from headcount.modelfile import Columns, Model, load_model, save_model

TOLERANCE = 1e-9

ON_NUMBERS = [
    PACC(LogisticRegression(C=3.0), random_state=0),
    PACC(NewtonLogisticRegression(), random_state=0),
    PACC(RandomForestClassifier(5, random_state=0), random_state=0),
    PACC(ExtraTreesClassifier(5, max_depth=4, random_state=0), random_state=0),
    PACC(BoostedTrees(n_rounds=3, random_state=0), random_state=0),
    PACC(Vote([NewtonLogisticRegression(), RandomForestClassifier(3, random_state=0)]), random_state=0),
    PACC(make_pipeline(StandardScaler(), TruncatedSVD(2, random_state=0), LogisticRegression()), random_state=0),
    PACC(CalibratedClassifierCV(LinearSVC(random_state=0), cv=2), random_state=0),
    ACC(LinearSVC(random_state=0), random_state=0),
    ACC(NewtonLinearSVC(), random_state=0),
    CC(SVMperf(loss="kld")),
    PCC(GaussianNB()),
    SLD(LogisticRegression(), calibration="bcts", random_state=0),
    HDy(LogisticRegression(), random_state=0),
    BayesianCC(LogisticRegression(), random_state=0),
]
ON_TEXTS = [
    PACC(make_pipeline(LogTfidf(1), LogisticRegression()), random_state=0),
    PACC(make_pipeline(TermWeights(1), MultinomialNB()), random_state=0),
]


def made_items() -> tuple[list[int], dict[str, list]]:
    """Make labels of two classes, and numbers and texts that depend on them."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 300)
    numbers = y[:, None] + generator.standard_normal((300, 4))
    words = np.array(["good", "fine", "great", "bad", "poor", "awful", "so", "it", "was"])
    drawn = 3 * y[:, None] * (generator.random((300, 6)) < 0.8) + generator.integers(0, 3, (300, 6))
    return y.tolist(), {"numbers": numbers.tolist(), "text": [" ".join(row) for row in words[drawn]]}


def write(folder: Path) -> None:
    """Write a model file of each quantifier, and the shares that it estimates."""
    labels, items = made_items()
    y, expected = np.array(labels), []
    for kind, quantifiers in (("numbers", ON_NUMBERS), ("text", ON_TEXTS)):
        X = np.array(items[kind]) if kind == "numbers" else items[kind]
        names = ("a", "b", "c", "d") if kind == "numbers" else ("t",)
        for quantifier in quantifiers:
            name = f"{len(expected)}.headcount"
            fitted = quantifier.fit(X, y)
            save_model(Model(fitted, Columns(kind, names, "y")), folder / name)
            shares = [fitted.predict(X[start : start + 60]).tolist() for start in range(0, 300, 60)]
            expected.append({"file": name, "kind": kind, "quantifier": repr(quantifier), "shares": shares})
    content = {"scikit-learn": sklearn.__version__, "items": items, "models": expected}
    (folder / "expected.json").write_text(json.dumps(content), encoding="utf-8")


def read(folder: Path) -> None:
    """Read what another version wrote; exit with the differences if there are any."""
    content = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    if content["scikit-learn"] == sklearn.__version__:
        sys.exit(f"These files were written by the same scikit-learn {sklearn.__version__}: that says nothing.")
    wrong, greatest = [], 0.0
    for model in content["models"]:
        items = content["items"][model["kind"]]
        X = np.array(items) if model["kind"] == "numbers" else items
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                quantifier = load_model(folder / model["file"]).quantifier
            shares = [quantifier.predict(X[start : start + 60]) for start in range(0, 300, 60)]
        except Exception as error:
            wrong.append(f"{model['quantifier']}: {type(error).__name__}: {error}")
            continue
        difference = float(np.abs(np.array(shares) - model["shares"]).max())
        greatest = max(greatest, difference)
        if not difference <= TOLERANCE:
            wrong.append(f"{model['quantifier']}: its shares differ by {difference:.2g}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(
        f"{len(content['models'])} model files of scikit-learn {content['scikit-learn']} give the same shares "
        f"with {sklearn.__version__} (they differ by {greatest:.1g} at most)."
    )


if __name__ == "__main__":
    command, place = sys.argv[1:]
    {"write": write, "read": read}[command](Path(place))
