#!/usr/bin/env bash
# NLTK version 3.10.4: `un_chomsky_normal_form` removes nodes of the Penn Treebank.
# A label with "|" is taken for one that `chomsky_normal_form` made. The Penn Treebank has such labels
# itself, for instance PRT|ADVP for a particle. The two calls are documented as each other's inverse.
# Seen:     (S (VP (VBD ran) (PRT|ADVP (RP up)))) -> (S (VP (VBD ran) (RP up)))
# Expected: the tree before the two calls.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/packages" \
    nltk==3.10.4
cd "$folder"
PYTHONPATH=packages python3 -W ignore - <<'PYTHON'
from nltk import Tree

text = "(S (VP (VBD ran) (PRT|ADVP (RP up))))"
tree = Tree.fromstring(text)
tree.chomsky_normal_form()
tree.un_chomsky_normal_form()
found = tree.pformat(margin=1000)
print(f"{text} -> {found}")
assert found == "(S (VP (VBD ran) (RP up)))"
PYTHON
