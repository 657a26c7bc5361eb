"""The recipes of the shipped models."""

from __future__ import annotations

from pathlib import Path

import pytest

from recipes.ship import read_facts
from tf_charagram.cli._flags.run_flags import parse_run
from tf_charagram.cli.train import make_parser

RECIPES = Path(__file__).parents[2] / "recipes"


@pytest.mark.parametrize("name", ["english", "english-large"])
def test_settings_of_a_recipe_are_settings_of_the_task(name):
    config = parse_run(["--config", str(RECIPES / f"{name}.yaml")], make_parser).config
    assert config.task == "distill"
    assert len(config.data_weights) == len(config.pairs) == len(set(config.pairs))


def test_facts_name_each_source_once():
    facts = read_facts(RECIPES / "english-facts.yaml")
    assert len({source["name"] for source in facts["data"]}) == len(facts["data"])
