#!/usr/bin/env bash
# pandas version 3.1.1 with pyarrow version 26.0.1: `str.lower` gives other words than Python's.
# The default type of texts computes with pyarrow if that is installed. There a Greek word that ends
# in a capital sigma keeps the inner form, as in DuckDB version 2.0.1; Python and polars version 2.1.0
# write the final one. Keys made by the one are not found by the other.
# Seen:     ΟΔΟΣ: pandas οδοσ, duckdb οδοσ, polars οδος, Python οδος
# Expected: one answer, at least within pandas with and without pyarrow.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/packages" \
    pandas==3.1.1 pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1
cd "$folder"
PYTHONPATH=packages python3 -W ignore - <<'PYTHON'
import duckdb
import pandas as pd
import polars as pl

word = "ΟΔΟΣ"
lower = {
    "pandas": pd.Series([word]).str.lower()[0],
    "duckdb": duckdb.execute("SELECT lower(?)", [word]).fetchone()[0],
    "polars": pl.Series([word]).str.to_lowercase()[0],
    "Python": pd.Series([word], dtype=object).str.lower()[0],
}
print(f"{word}: " + ", ".join(f"{name} {text}" for name, text in lower.items()))
assert word.lower() == lower["Python"] == lower["polars"] == "οδος"
assert lower["pandas"] == lower["duckdb"] == "οδοσ"
PYTHON
