"""Time of a bootstrap interval for one sample of 2,000 items, two classes, 500 replicates, against QuaPy.

QuaPy resamples the new items only. Headcount also resamples the labelled items for PACC and for SLD with calibration; SLD without
calibration has no validation items to resample. One thread. Run by `make bench`.
"""

import sys
import warnings

import joblib

import headcount as hc
from benchmarks.aggregation import ours, theirs
from benchmarks.setting import machine, make_pool, seconds

warnings.filterwarnings("ignore", module="quapy")
from quapy.method.confidence import AggregativeBootstrap  # noqa: E402

REPLICATES, TARGET_RATIO = 500, 50


def main() -> bool:
    print(f"\n## An interval for 2,000 items, {REPLICATES} replicates, one thread (milliseconds)\n\n{machine()}\n")
    print(
        "| method | bootstrap (new and labelled items) | QuaPy (new items only) | ratio | target | delta method |"
        "\n|---|---|---|---|---|---|"
    )
    pool = make_pool(2, n_validation=1000)
    sample = pool.P[:2000]
    passed = True
    for name in ("PACC", "SLD", "SLD, calibrated"):
        calibrating = hc.SLD(pool.classifier, calibration="bcts")
        q = calibrating.fit(pool.P_validation, pool.y_validation) if "," in name else ours(name, pool)
        out = q.outputs(sample)
        assumed = {"assume": "calibrated"} if name == "SLD" else {}
        bootstrap = {"method": "bootstrap", "n_replicates": REPLICATES, "random_state": 0, **assumed}
        hc.estimate(q, out, **bootstrap)
        hc.estimate(q, out, **assumed)
        ours_s = seconds(lambda q=q, out=out, bootstrap=bootstrap: hc.estimate(q, out, **bootstrap))
        delta = seconds(lambda q=q, out=out, assumed=assumed: hc.estimate(q, out, **assumed))
        model = AggregativeBootstrap(theirs(name.partition(",")[0], pool), n_test_samples=REPLICATES, random_state=0)
        model.fit(pool.P_validation, pool.y_validation)
        with joblib.parallel_config(backend="sequential"):  # otherwise it starts processes on all cores
            theirs_s = seconds(lambda model=model: model.predict_conf(sample), 3.0)
        passed &= theirs_s / ours_s >= TARGET_RATIO
        print(
            f"| {name} | {1e3 * ours_s:.1f} | {1e3 * theirs_s:,.0f} | {theirs_s / ours_s:.0f} | {TARGET_RATIO} "
            f"| {1e3 * delta:.1f} |",
            flush=True,
        )
    return passed


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
