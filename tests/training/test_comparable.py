"""What workers on several machines compare: files by what is in them, wherever they are."""

import pytest

from tf_charagram.tasks.distillation.settings import DistillConfig
from tf_charagram.training.comparable import comparable
from tf_charagram.training.run_folder import run_config

NAMES = {
    "data": ("{0}/x/train.tsv", "{0}/y/train.tsv"),
    "teacher": ("{0}/x/vectors.npy", "{0}/y/vectors.npy"),
    "second_teacher": ("sentence-transformers:{0}/teacher",),
    "misspellings": "{0}/misspellings.txt",
    "teacher_cache": "{0}/cache",
}


def facts(root, **settings):
    """Returns what a worker that has its files in a folder of its own compares."""
    values = {
        name: value.format(root)
        if isinstance(value, str)
        else tuple(each.format(root) for each in value)
        for name, value in NAMES.items()
    }
    config = DistillConfig(**{**values, "typos": 0.1, "neighbor_batch_size": 9, **settings})
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return comparable(run_config(config.to_dict(), files), files)


@pytest.fixture
def roots(tmp_path):
    """Returns two folders with equal files."""
    for root in ("a", "b"):
        for name in ("x/train.tsv", "y/train.tsv", "x/vectors.npy"):
            path = tmp_path / root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
    return tmp_path / "a", tmp_path / "b"


def test_equal_files_elsewhere(roots):
    first, second = map(facts, roots)
    assert first == second


@pytest.mark.parametrize("name", ["x/train.tsv", "y/train.tsv", "x/vectors.npy"])
def test_another_content(roots, name):
    (roots[1] / name).write_text("other")
    first, second = map(facts, roots)
    assert first.keys() == second.keys()
    (changed,) = [key for key in first if first[key] != second[key]]
    assert changed.endswith(f", {name.rpartition('/')[2]} (sha256)")


@pytest.mark.parametrize(
    "settings",
    [
        {"misspellings": None},
        {"misspellings": "others.txt"},
        {"second_teacher": ()},
        {"teacher": ("sentence-transformers:other",)},
        {"temperature": 0.3},
    ],
    ids=str,
)
def test_another_setting(roots, settings):
    first, second = facts(roots[0]), facts(roots[1], **settings)
    (name,) = settings
    assert [key for key in first if first[key] != second[key]] == [f"--{name.replace('_', '-')}"]


def test_files_given_twice(roots):
    first, second = (root / "x" / "train.tsv" for root in roots)
    other, third = (root / "y" / "train.tsv" for root in roots)
    config = run_config({}, [first, second, other, third])
    orders = ([first, first, other], [second, third, third])
    assert comparable(config, orders[0]) != comparable(config, orders[1])
