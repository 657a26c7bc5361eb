#!/usr/bin/env bash
# textdistance version 4.6.3: normalized similarities that say the opposite of its README.
# The README says that `normalized_similarity` is between 0 and 1, "where 0 means totally different,
# and 1 equal", and "for any sequence: distance + similarity == maximum". An empty text is equal to
# every text for `smith_waterman`; a text and itself are totally different for `tanimoto` (the
# logarithm of Jaccard's similarity) and for `rle_ncd`, and have a negative distance for
# `needleman_wunsch`. Rows that lack a value are the best matches of all.
# Seen:     smith_waterman   'smith' ''        normalized_similarity 1
#           tanimoto         'smith' 'smith'   normalized_similarity 0
#           tanimoto         'smith' 'jones'   normalized_similarity -3.17
#           rle_ncd          'smith' 'smith'   normalized_similarity 0
#           needleman_wunsch 'smith' 'smith'   distance -5.0 + similarity 5.0, maximum 5
# Expected: 0 for the empty text, 1 for equal texts, nothing below 0, and a distance of 0.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/packages" \
    textdistance==4.6.3
cd "$folder"
PYTHONPATH=packages python3 -W ignore - <<'PYTHON'
import textdistance

README = "where 0 means totally different, and 1 equal"
assert README in open("packages/textdistance-4.6.3.dist-info/METADATA").read()
pairs = [
    ("smith_waterman", "smith", "", 1.0),
    ("tanimoto", "smith", "smith", 0.0),
    ("tanimoto", "smith", "jones", -3.17),
    ("rle_ncd", "smith", "smith", 0.0),
]
for name, left, right, seen in pairs:
    similarity = getattr(textdistance, name).normalized_similarity(left, right)
    print(f"{name:16} {left!r} {right!r:9} normalized_similarity {float(similarity):.3g}")
    assert round(similarity, 2) == seen
aligned = textdistance.needleman_wunsch
distance = aligned.distance("smith", "smith")
similarity = aligned.similarity("smith", "smith")
maximum = aligned.maximum("smith", "smith")
print(
    f"needleman_wunsch 'smith' 'smith'   distance {distance} + similarity {similarity}, "
    f"maximum {maximum}"
)
assert (distance, similarity, maximum) == (-5.0, 5.0, 5)
PYTHON
