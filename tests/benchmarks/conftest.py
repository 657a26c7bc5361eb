"""Scripts of `benchmarks/` import each other by their bare names."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
