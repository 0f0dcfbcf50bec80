"""Run README's first minute with the `headcount` beside this Python, in an empty folder with an empty cache of kernels.

The environment must have what running needs and no more: nothing of the tests may be importable.
"""

import os
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

readme = Path(sys.argv[1]).read_text(encoding="utf-8")
block = readme.split("## The first minute", 1)[1].split("```sh\n", 1)[1].split("```", 1)[0]
commands = [line.split("#", 1)[0].strip() for line in block.splitlines() if line.startswith("headcount ")]
extra = [name for name in ("pytest", "hypothesis", "torch", "duckdb") if find_spec(name)]
if extra:
    sys.exit(f"This environment is not bare: it has {', '.join(extra)}.")
if not commands:
    sys.exit(f"{sys.argv[1]} has no commands in its section on the first minute.")
with tempfile.TemporaryDirectory() as folder:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "HEADCOUNT_DATA")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    environment["NUMBA_CACHE_DIR"] = str(Path(folder, "kernels"))
    for command in commands:
        begin = time.perf_counter()
        print(f"$ {command}", flush=True)
        subprocess.run(command, shell=True, check=True, cwd=folder, env=environment)
        print(f"({time.perf_counter() - begin:.1f} s)", flush=True)
    table, page = Path(folder, "shares.csv").read_text(encoding="utf-8").splitlines(), Path(folder, "shares.html")
    if (
        len(table) < 37
        or not table[0].startswith("group,class,share,share_low,share_high")
        or "2025-12" not in page.read_text("utf-8")
    ):
        sys.exit(
            f"The first minute did not write the shares of three classes in twelve months: {len(table)} lines, {table[0]}."
        )
