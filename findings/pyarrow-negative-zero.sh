#!/usr/bin/env bash
# pyarrow version 26.0.1: rounded coordinates near the equator or the meridian of Greenwich do not
# join. Rounding -0.04 gives -0.0, which `equal` and filters hold equal to 0.0, as IEEE 754 does.
# `join`, `group_by`, `unique` and `is_in` compare bits; but they hold NaN equal to NaN.
# Seen:     join finds 1 of 2 places, pandas 2; group_by finds longitudes [0.0, 5.3, -0.0]
# Expected: values that are equal are equal as keys, as in pandas 3.0.5.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/packages" \
    pyarrow==26.0.1 pandas==3.0.5 numpy==2.4.6
cd "$folder"
PYTHONPATH=packages python3 -W ignore - <<'PYTHON'
import pyarrow as pa
import pyarrow.compute as pc

# The same two places, measured twice.
first = pa.table({"lon": pc.round(pa.array([0.04, 5.31]), 1), "name": ["Greenwich", "Marseille"]})
second = pa.table({"lon": pc.round(pa.array([-0.04, 5.29]), 1), "port": [False, True]})
assert pc.equal(first["lon"], second["lon"]).to_pylist() == [True, True]
assert second.filter(pc.field("lon") == 0.0).num_rows == 1

by_arrow = first.join(second, "lon", join_type="inner").num_rows
by_pandas = len(first.to_pandas().merge(second.to_pandas(), on="lon"))
both = pa.table({"lon": pa.chunked_array([first["lon"].chunk(0), second["lon"].chunk(0)])})
groups = both.group_by("lon", use_threads=False).aggregate([])["lon"].to_pylist()
print(f"join finds {by_arrow} of 2 places, pandas {by_pandas}; group_by finds longitudes {groups}")
assert (by_arrow, by_pandas, str(groups)) == (1, 2, "[0.0, 5.3, -0.0]")
assert len(pc.unique(both["lon"])) == 3
assert not pc.is_in(pa.scalar(-0.0), value_set=pa.array([0.0])).as_py()
nan = pa.table({"lon": [float("nan")]})
assert nan.join(nan, "lon", join_type="inner").num_rows == 1
PYTHON
