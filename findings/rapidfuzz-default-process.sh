#!/usr/bin/env bash
# RapidFuzz version 3.14.6: `utils.default_process` makes different Hindi names equal.
# It replaces all but letters and digits by spaces. The vowel signs of Indic scripts are marks, not
# letters, so all vowels but the first go: "मीना" (Meena) and "मानी" (Mani) both become "म न".
# Seen:     मीना मानी: 50.0 as they are, 100.0 with default_process ('म न', 'म न')
# Expected: words keep their vowels, or the documentation says for which scripts the function is.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/packages" \
    rapidfuzz==3.14.6
cd "$folder"
PYTHONPATH=packages python3 -W ignore - <<'PYTHON'
from rapidfuzz import fuzz, utils

left, right = "मीना", "मानी"
plain = fuzz.ratio(left, right)
processed = fuzz.ratio(left, right, processor=utils.default_process)
forms = utils.default_process(left), utils.default_process(right)
print(f"{left} {right}: {plain} as they are, {processed} with default_process {forms}")
assert (plain, processed) == (50.0, 100.0)
PYTHON
