"""`python -m research evaluate`: scores models next to baselines and the papers' numbers."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from research.baselines.specs import baseline_specs, load_baselines
from research.baselines.word_average import WordVectorAverage
from research.pair_scores import save_pairs
from research.paper_numbers import MEANS, PaperScores, paper_scores, sets_of_mean
from tf_charagram._common.reporting import table_console
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.errors import ConfigError
from tf_charagram.evaluation._scores.embedders import (
    EmbedderEvaluation,
    EvaluationSets,
    embedder_json,
    embedder_tables,
    evaluate_embeddings,
)
from tf_charagram.evaluation._scores.scores import SetScore, mean_score
from tf_charagram.models._storage.locations import read_config
from tf_charagram.models.embedder import TextEmbedder


def make_parser() -> argparse.ArgumentParser:
    """Returns the command line."""
    parser = argparse.ArgumentParser(prog="python -m research evaluate", description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="run folder or model folder")
    parser.add_argument(
        "--baseline", action="append", default=[],
        help="repeatable: average:FILE of word vectors (word2vec, GloVe, fastText, gensim), tfidf, "
        "vectors:FILE of vectors of texts",
    )  # fmt: skip
    parser.add_argument(
        "--weighting", default="none",
        help="of averages, separated by commas: none, inverse-frequency, sif",
    )  # fmt: skip
    parser.add_argument(
        "--frequencies",
        help="for --weighting: a word and its count per line, or texts [Zipf's law]",
    )
    parser.add_argument("--eval-data", help="folder or file to score on [the starter set]")
    parser.add_argument("--typos", type=int, default=0, help="typos in one text of each pair")
    parser.add_argument("--bootstrap", type=int, default=0, help="resamples for intervals")
    parser.add_argument("--seed", type=int, default=0, help="seed of typos and resamples")
    parser.add_argument("--on-bad-line", choices=("error", "skip"), default="error")
    parser.add_argument("--save-pairs", help="write the score of each pair: .tsv, .jsonl")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    specs = baseline_specs(values.baseline, values.weighting.split(","), values.frequencies)
    if not values.models and not specs:
        raise ConfigError("Name a model, or a baseline with --baseline.")
    bad_lines = BadLines(values.on_bad_line)
    sets = EvaluationSets.read(
        values.eval_data, typos=values.typos, bad_lines=bad_lines, seed=values.seed
    )
    resampling: dict[str, Any] = {"num_resamples": values.bootstrap, "seed": values.seed}
    results = [
        evaluate_embeddings(
            model, partial(TextEmbedder.load(model).encode, normalize=True), sets, **resampling
        )
        for model in values.models
    ]
    texts = [text for pairs in sets.clean for text in (*pairs.left, *pairs.right)]
    texts += [text for pairs in sets.mistyped or () for text in (*pairs.left, *pairs.right)]
    notes = []
    for spec, baseline in load_baselines(specs, texts, bad_lines):
        results.append(
            evaluate_embeddings(spec.name, baseline, sets, label=spec.label, **resampling)
        )
        if isinstance(baseline, WordVectorAverage):
            notes += [f"{spec.label}: {note}" for note in baseline.notes()]
    if bad_lines.count:
        sys.stderr.write(f"{bad_lines.summary()}\n")
    if values.save_pairs is not None:
        save_pairs(values.save_pairs, sets, results)
    results = [_with_means(result) for result in results]
    results += _of_papers(values.models, results[0].clean)
    if values.json:
        sys.stdout.write(json.dumps({**embedder_json(results), "notes": notes}) + "\n")
        return 0
    for table in embedder_tables(results):
        table_console().print(table)
    sys.stdout.writelines(f"{note}\n" for note in notes)
    return 0


def _with_means(result: EmbedderEvaluation) -> EmbedderEvaluation:
    typos = None if result.typos is None else _means_added(result.typos)
    return replace(result, clean=_means_added(result.clean), typos=typos)


def _means_added(scores: Sequence[SetScore]) -> list[SetScore]:
    """Adds the papers' means over those of their sets that are there."""
    added = list(scores)
    for mean, expected in MEANS.items():
        if members := [score for score in scores if score.name in expected]:
            added.append(mean_score(mean, members).rounded())
    return added


def _of_papers(models: Sequence[str], scores: Sequence[SetScore]) -> list[EmbedderEvaluation]:
    """Returns the numbers of the papers for the encoders of some models, as results."""
    papers = {}
    for model in models:
        encoder = read_config(model)["encoder"]
        if paper := paper_scores(encoder["name"], encoder.get("config", {})):
            papers[paper.source] = paper
    return [
        EmbedderEvaluation(
            source, [_number(paper, score) for score in scores],
            label=f"paper, {source.partition(':')[0]}",
        )
        for source, paper in papers.items()
    ]  # fmt: skip


def _number(paper: PaperScores, score: SetScore) -> SetScore:
    """Returns the number of a paper; a mean is over the same sets as ours, if some are missing."""
    value = paper.scores.get(score.name)
    if score.is_mean and (value is None or {*score.sets} != {*sets_of_mean(score.name)}):
        value = paper.mean_over(score.sets)
    return replace(score, spearman=value, pearson=value, interval=None, draws=None).rounded()
