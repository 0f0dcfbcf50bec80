"""Set up what must be set before torch is imported, and skip the examples of modules that need torch where it is missing."""

import os
from importlib.util import find_spec

# oneDNN (inside torch) uses AMX instructions for bfloat16 where the CPU reports them. Some virtual machines report them without
# permitting them, which ends the process with "Illegal instruction". The tests do not need AMX.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

collect_ignore_glob = (
    [] if find_spec("torch") else ["src/headcount/learners/neural/*", "src/headcount/quantifiers/quanet/*"]
)
