"""Runs the recipes of `docs/keras.md` and `docs/lazy_adam.md`, and checks their results."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

GUIDE = Path(__file__).parent.parent / "docs" / "keras.md"
LAZY_ADAM = GUIDE.with_name("lazy_adam.md")

pytestmark = pytest.mark.skipif(not GUIDE.is_file(), reason="not a checkout")

CHECKS = {
    "Features for a classifier": lambda found: found["prediction"] == 1,
    "Fine-tuning": lambda found: (
        found["model"].evaluate(found["questions"], found["topics"], verbose=0)[1] == 1.0
        and found["after"] > found["before"] + 0.1
        and "val_cosine_similarity" in found["history"].history
    ),
    "Two towers for search": lambda found: found["best"].tolist() == [0, 1, 2],
    "Custom training loops": lambda found: found["losses"][-1] < 0.8 * found["losses"][0],
    "A SavedModel as a layer": lambda found: np.allclose(
        found["vectors"], found["embedder"].encode(["vehicals"]), atol=1e-4
    ),
    "In a tf.data pipeline": lambda found: (
        found["served"](found["tf"].constant(found["texts"])).numpy().round().ravel().tolist()
        == found["labels"]
    ),
}


def recipes():
    sections = re.split(r"^## ", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for section in sections:
        blocks = re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        if blocks:
            yield section.partition("\n")[0], "\n".join(blocks)


def test_every_recipe_is_checked():
    assert [title for title, _ in recipes()] == list(CHECKS)


def _titles():
    long = {
        "A SavedModel as a layer",
        "Custom training loops",
        "Features for a classifier",
        "Fine-tuning",
        "In a tf.data pipeline",
        "Two towers for search",
    }
    return [pytest.param(name, marks=pytest.mark.long) if name in long else name for name in CHECKS]


@pytest.mark.parametrize("title", _titles())
def test_recipe(title, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found: dict[str, object] = {"__name__": "recipe"}
    exec(compile(dict(recipes())[title], title, "exec"), found)
    assert CHECKS[title](found)


def test_lazy_adam(tmp_path, monkeypatch):
    """All blocks of the page, which build on each other."""
    monkeypatch.chdir(tmp_path)
    text = LAZY_ADAM.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    found: dict[str, object] = {"__name__": "recipe"}
    exec(compile("\n".join(blocks), "lazy_adam", "exec"), found)
    assert found["history"].history["loss"][-1] < found["history"].history["loss"][0]
    assert found["losses"][-1] < found["losses"][0]
    assert (tmp_path / "lazy.keras").is_file()
