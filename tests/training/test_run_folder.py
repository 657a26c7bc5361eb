"""Files of a run folder that were cut short, or changed by somebody."""

from __future__ import annotations

import pytest

from tf_charagram.errors import RunError
from tf_charagram.training.run_folder import RunFolder

GOOD = '{"step": 1, "loss": 0.5}\n{"step": 4, "loss": 0.25}\n'


@pytest.mark.parametrize(
    "bad",
    [b'{"step": 2, "lo', b"[1, 2]\n", b'{"loss": 1}\n', b'{"step": [1]}\n', b"\xff\xfe\n", b"7\n",
     b'{"a":' * 100_000],
)  # fmt: skip
def test_history_without_its_bad_lines(tmp_path, bad):
    folder = RunFolder(tmp_path)
    folder.history.write_bytes(GOOD.encode() + bad)
    assert [record["step"] for record in folder.read_history()] == [1, 4]
    assert folder.trim_history(3) == [{"step": 1, "loss": 0.5}]
    assert folder.history.read_text() == GOOD.splitlines()[0] + "\n"


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000, '{"settings": 1}'])
def test_config(tmp_path, text):
    folder = RunFolder(tmp_path)
    folder.config.write_text(text)
    with pytest.raises(RunError, match=r"config.json is damaged"):
        folder.check_config({"settings": {}, "data_files": {}}, dict)
