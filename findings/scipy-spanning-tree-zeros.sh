#!/usr/bin/env bash
# SciPy version 1.17.1: `minimum_spanning_tree` of a sparse graph of distances loses exact duplicates.
# An edge that is stored with weight 0.0 is an edge for `connected_components`. The tree is returned
# without its zeros, so single linkage over a spanning tree splits texts that are equal.
# Seen:     1 component in the graph, 2 in its spanning tree
# Expected: a spanning tree connects what the graph connects.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/packages" \
    scipy==1.17.1 numpy==2.4.6
cd "$folder"
PYTHONPATH=packages python3 -W ignore - <<'PYTHON'
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

# Texts 0 and 1 are equal; text 2 is 0.2 away from text 1.
graph = csr_array(([0.0, 0.2], ([0, 1], [1, 2])), shape=(3, 3))
in_graph, _ = connected_components(graph, directed=False)
in_tree, labels = connected_components(minimum_spanning_tree(graph), directed=False)
print(f"{in_graph} component in the graph, {in_tree} in its spanning tree")
assert (in_graph, in_tree) == (1, 2) and labels.tolist() == [0, 1, 1]
PYTHON
