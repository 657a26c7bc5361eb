"""A SavedModel in Node gives its golden answers; docs/serving.md says how to install Node's part.

The test is left out unless `NODE_PATH` is a folder of packages with `@tensorflow/tfjs-node`.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.commands import call
from tf_charagram.export._serving.requests import read_golden
from tf_charagram.export._serving.version import GOLDEN

PACKAGE = Path(os.environ.get("NODE_PATH", "/nowhere"), "@tensorflow", "tfjs-node")
PROGRAM = Path(__file__).parent / "node_runtime.js"


@pytest.mark.skipif(not PACKAGE.is_dir(), reason="Set NODE_PATH to have @tensorflow/tfjs-node.")
def test_golden_answers(trained, tmp_path):
    assert call("export", trained.folder, "--output", tmp_path / "words") == 0
    version = tmp_path / "words" / "1"
    ended = subprocess.run(
        ["node", str(PROGRAM), str(version)], capture_output=True, text=True, check=True
    )
    answers = dict(json.loads(ended.stdout.splitlines()[-1]))
    golden = read_golden(version / GOLDEN)
    assert set(answers) == {call.signature for call in golden}
    for call_ in golden:
        for name, expected in call_.outputs.items():
            found = answers[call_.signature][name]
            if expected.dtype.kind == "f":
                values = np.reshape(found["values"], found["shape"])
                np.testing.assert_allclose(values, expected, rtol=2e-4, atol=1e-6)
            else:
                # Node decodes bytes; broken ones become U+FFFD.
                texts = [text.decode(errors="replace") for text in expected]
                assert found["values"] == texts
