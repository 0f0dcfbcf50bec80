"""Without torch (the extra 'neural'), modules that need it are not collected for their examples."""

from importlib.util import find_spec

collect_ignore_glob = (
    [] if find_spec("torch") else ["src/headcount/learners/neural/*", "src/headcount/quantifiers/quanet/*"]
)
