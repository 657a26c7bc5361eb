#!/usr/bin/env bash
# DuckDB version 2.0.1, pyarrow version 26.0.1: whether a score NaN passes a filter depends on the
# other scores of the file. Cosines with an empty text are often NaN.
# DuckDB holds NaN above all numbers, and pyarrow holds it unequal to all. But both skip a row group
# by its smallest and largest value, which Parquet stores without regard to NaN.
# Seen:     duckdb score > 0.5:   [0.9, nan] gives [0.9, nan], [0.1, nan] gives []
#           pyarrow score != 0.1: [0.2, nan] gives [0.2, nan], [0.1, nan] gives []
# Expected: nan in all four, or in none.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/packages" \
    duckdb==2.0.1 pyarrow==26.0.1
cd "$folder"
PYTHONPATH=packages python3 -W ignore - <<'PYTHON'
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq


def written(scores):
    pq.write_table(pa.table({"score": scores}), "scores.parquet")


def by_duckdb(scores):
    written(scores)
    rows = duckdb.execute("SELECT score FROM 'scores.parquet' WHERE score > 0.5").fetchall()
    return [score for (score,) in rows]


def by_pyarrow(scores):
    written(scores)
    return pq.read_table("scores.parquet", filters=[("score", "!=", 0.1)])["score"].to_pylist()


nan = float("nan")
found = [by_duckdb([0.9, nan]), by_duckdb([0.1, nan])]
print(f"duckdb score > 0.5:   [0.9, nan] gives {found[0]}, [0.1, nan] gives {found[1]}")
found += [by_pyarrow([0.2, nan]), by_pyarrow([0.1, nan])]
print(f"pyarrow score != 0.1: [0.2, nan] gives {found[2]}, [0.1, nan] gives {found[3]}")
assert str(found) == "[[0.9, nan], [], [0.2, nan], []]"
PYTHON
