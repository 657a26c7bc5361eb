"""Workers that are about to train something else say so before the first step."""

import pytest

from tf_charagram.errors import ConfigError, DataError
from tf_charagram.optimizers.exchange import ALONE, Exchange
from tf_charagram.training.workers.agreement import failing_together


class Answers(Exchange):
    """Has what the others said; `said` is what this one did."""

    def __init__(self, *others, rank=0):
        super().__init__(rank, len(others) + 1)
        self.others = list(others)

    def json(self, value):
        self.said = value
        answers = self.others
        return [*answers[: self.rank], value, *answers[self.rank :]]


def test_alone():
    with failing_together(ALONE) as facts:
        facts["seed"] = 1
    with pytest.raises(DataError, match="missing"), failing_together(ALONE):
        raise DataError("a.tsv", "is missing.")


def test_equal_workers():
    with failing_together(Answers({"facts": {"seed": 1}})) as facts:
        facts["seed"] = 1


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"facts": {"seed": 2}}, "worker 1: seed is 2, the chief has 1\n"),
        ({"facts": {}}, "worker 1: seed is nothing, the chief has 1\n"),
        ({"facts": {"seed": 1, "keras (version)": "3.9"}}, "keras .version. is 3.9, the chief has"),
        ({"error": "b.tsv: cannot be read"}, "worker 1: b.tsv: cannot be read\nGive all of them"),
    ],
    ids=str,
)
def test_different_workers(other, message):
    with pytest.raises(ConfigError, match=message), failing_together(Answers(other)) as facts:
        facts["seed"] = 1


def test_others_hear_of_an_error():
    answers = Answers({"facts": {}}, rank=1)
    with pytest.raises(DataError, match="missing"), failing_together(answers):
        raise DataError("a.tsv", "is missing.")
    assert answers.said == {"error": "a.tsv: is missing."}


def test_many_differences_are_counted():
    others = {"facts": {str(number): 0 for number in range(20)}}
    with (
        pytest.raises(ConfigError, match="and 12 more"),
        failing_together(Answers(others)) as facts,
    ):
        facts |= dict.fromkeys(map(str, range(20)), 1)
