#!/usr/bin/env bash
# conllu version 6.0.0: a value of MISC is cut at its second "=".
# Items of MISC are separated by "|", and each is a name, "=" and a value, in which another "=" is a
# character like others. A file that is read and written again has lost the rest, without a message.
# Seen:     Ref=page?id=7 -> Ref=page?id
# Expected: Ref=page?id=7, as in the file.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/packages" \
    conllu==6.0.0
cd "$folder"
PYTHONPATH=packages python3 -W ignore - <<'PYTHON'
import conllu

line = "1\tcat\tcat\tNOUN\t_\t_\t0\troot\t_\tRef=page?id=7\n\n"
(sentence,) = conllu.parse(line)
written = sentence.serialize().split("\t")[9].strip()
print(f"Ref=page?id=7 -> {written}")
assert written == "Ref=page?id"
PYTHON
