#!/usr/bin/env bash
# Polars version 2.1.0, pyarrow version 26.0.1: one column of 128-bit integers, such as sums or
# hashes, hides all other columns of a Parquet file from pyarrow.
# Seen:     pyarrow, column name only: Integers with more than 64 bits not implemented
#           polars: ['ann', 'bob']
# Expected: ['ann', 'bob'] from both: the column asked for has texts.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/packages" \
    polars==2.1.0 pyarrow==26.0.1
cd "$folder"
PYTHONPATH=packages python3 -W ignore - <<'PYTHON'
import polars
import pyarrow as pa
import pyarrow.parquet as pq

frame = polars.DataFrame(
    {"name": ["ann", "bob"], "total": [1, 2]}, schema={"name": polars.String, "total": polars.Int128}
)
frame.write_parquet("people.parquet")
try:
    seen = pq.read_table("people.parquet", columns=["name"])["name"].to_pylist()
except pa.ArrowNotImplementedError as error:
    seen = str(error)
print("pyarrow, column name only:", seen)
names = polars.read_parquet("people.parquet", columns=["name"])["name"].to_list()
print("polars:", names)
assert "more than 64 bits not implemented" in seen
assert names == ["ann", "bob"]
PYTHON
