"""Scripts of `benchmarks/` import each other by their bare names."""

import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

sys.path.append(str(BENCHMARKS))
# The source distribution has the tests, and no benchmarks.
collect_ignore_glob = [] if BENCHMARKS.is_dir() else ["test_*.py"]
