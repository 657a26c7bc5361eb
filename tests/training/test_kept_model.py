"""Which weights a run leaves."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tf_charagram.training.kept_model import LAST, KeptModel
from tf_charagram.training.run_folder import RunFolder


@dataclass
class Product:
    """Counts up at each evaluation; what is saved is the count."""

    number: int = 0
    saved: list[int] = field(default_factory=list)

    def save(self, path):
        path.mkdir(exist_ok=True)
        self.saved.append(self.number)


def evaluated(folder, select, scores):
    """Returns what was saved of a run with these scores, one an evaluation."""
    product = Product()
    kept = KeptModel(product, folder, select)
    for product.number, score in enumerate(scores, 1):
        record = {"step": product.number, "scores": {"dev": score}}
        kept.update(record, is_last=product.number == len(scores))
        folder.append_history(record)
    return product.saved


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path)


@pytest.mark.parametrize(
    ("scores", "saved"),
    [
        ([1.0, 3.0, 2.0, 4.0], [1, 2, 4]),
        ([1.0, 1.0], [1]),
        ([None, -1.0, None], [1, 2]),
        ([None, None, None], [1, 2, 3]),
    ],
    ids=str,
)
def test_the_best(scores, saved, folder):
    assert evaluated(folder, "dev", scores) == saved


def test_the_last(folder):
    assert evaluated(folder, LAST, [3.0, 2.0, 1.0]) == [3]


@pytest.mark.parametrize(("select", "saved"), [("dev", [1]), (LAST, [9])])
def test_ended_early(select, saved, folder):
    """The best stays; without one, the last weights are better than none."""
    product = Product(number=1)
    kept = KeptModel(product, folder, select)
    kept.update({"step": 1, "scores": {"dev": 5.0}}, is_last=False)
    product.number = 9
    kept.end_early()
    assert product.saved == saved
    kept.select = "dev"
    folder.model.rmdir()
    kept.end_early()
    assert product.saved == [*saved, 9]
