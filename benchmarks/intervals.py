"""An interval for one sample of 2,000 items, two classes, 500 replicates, against QuaPy's, which resample the target only.

Ours of PACC, and of SLD where it calibrates, resample the labelled side too; plain SLD has none but its classifier. One thread.
Run by `make bench`.
"""

import sys
import warnings

import joblib

import headcount as hc
from benchmarks.aggregation import ours, theirs
from benchmarks.setting import machine, make_pool, seconds

warnings.filterwarnings("ignore", module="quapy")
from quapy.method.confidence import AggregativeBootstrap  # noqa: E402

REPLICATES, ASKED = 500, 50


def main() -> bool:
    print(f"\n## An interval for 2,000 items, {REPLICATES} replicates, one thread (milliseconds)\n\n{machine()}\n")
    print(
        "| method | bootstrap (both sides, but plain SLD) | QuaPy, target only | ratio | asked | delta |\n|---|---|---|---|---|---|"
    )
    pool = make_pool(2, n_validation=1000)
    target = pool.P[:2000]
    fine = True
    for name in ("PACC", "SLD", "SLD, calibrating"):
        calibrating = hc.SLD(pool.classifier, calibration="bcts")
        q = calibrating.fit(pool.P_validation, pool.y_validation) if "," in name else ours(name, pool)
        out = q.outputs(target)
        again = {"method": "bootstrap", "n_replicates": REPLICATES, "random_state": 0}
        hc.estimate(q, out, **again)
        hc.estimate(q, out)
        us = seconds(lambda q=q, out=out, again=again: hc.estimate(q, out, **again))
        delta = seconds(lambda q=q, out=out: hc.estimate(q, out))
        model = AggregativeBootstrap(theirs(name.partition(",")[0], pool), n_test_samples=REPLICATES, random_state=0)
        model.fit(pool.P_validation, pool.y_validation)
        with joblib.parallel_config(backend="sequential"):  # else it starts processes on all cores
            them = seconds(lambda model=model: model.predict_conf(target), 3.0)
        fine &= them / us >= ASKED
        print(
            f"| {name} | {1e3 * us:.1f} | {1e3 * them:,.0f} | {them / us:.0f} | {ASKED} | {1e3 * delta:.1f} |",
            flush=True,
        )
    return fine


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
