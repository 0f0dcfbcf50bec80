"""Print the peak memory, in megabytes, of evaluating 100,000 samples of 500 items; run in its own process."""

from pathlib import Path

import headcount as hc
from benchmarks.setting import SEED, make_pool


def main() -> None:
    pool = make_pool(2)
    q = hc.PACC(pool.classifier).fit(pool.P_validation, pool.y_validation)
    drawing = hc.UniformPrevalence(100_000, sample_size=500, random_state=SEED)
    if len(hc.evaluate(q, pool.P, pool.y, drawing).ae) != 100_000:
        raise SystemExit("not all samples were evaluated")
    # Not ru_maxrss, which a process inherits from the larger one that started it.
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    print(int(status["VmHWM"].split()[0]) / 1024)


if __name__ == "__main__":
    main()
