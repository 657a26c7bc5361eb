"""Tables of the scores of a tagger."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from tf_charagram.reporting.console import INTERVAL, interval, make_table, number
from tf_charagram.tasks.tagging.scores import TaggingScore

_TITLE = "Accuracy x 100"
_NUM_CONFUSIONS = 10


def tagging_tables(score: TaggingScore) -> list[Table]:
    """Returns a table of accuracies, one of each tag, and one of the most frequent mistakes.

    The last is left out where there is no mistake. Tags that were not seen in training are listed
    below the second.
    """
    tables = [_accuracy_table(score), _tag_table(score)]
    return [*tables, _confusion_table(score)] if score.confusions else tables


def _accuracy_table(score: TaggingScore) -> Table:
    table = make_table(_TITLE, ["of"], ["count", "accuracy", INTERVAL])
    bounds = interval(score.interval)
    table.add_row("all words", f"{score.num_tokens:,}", number(score.accuracy), bounds)
    table.add_row("known words", f"{score.num_known:,}", number(score.known_accuracy), "-")
    table.add_row("unknown words", f"{score.num_unknown:,}", number(score.unknown_accuracy), "-")
    table.add_section()
    table.add_row(
        "whole sentences", f"{score.num_sentences:,}", number(score.sentence_accuracy), "-"
    )
    return table


def _tag_table(score: TaggingScore) -> Table:
    table = make_table("Tags", ["tag"], ["count", "predicted", "precision", "recall", "F1"])
    for tag in sorted(score.tags, key=lambda tag: -tag.count):
        table.add_row(
            escape(tag.tag), f"{tag.count:,}", f"{tag.num_predicted:,}",
            number(tag.precision), number(tag.recall), number(tag.f1),
        )  # fmt: skip
    if score.unseen_tags:
        names = ", ".join(f"{tag} ({count:,})" for tag, count in score.unseen_tags)
        table.caption = escape(f"Not seen in training, so always wrong: {names}.")
    return table


def _confusion_table(score: TaggingScore) -> Table:
    table = make_table("Most frequent mistakes", ["tag", "predicted"], ["count", "share"])
    num_wrong = sum(count for _, _, count in score.confusions)
    for gold, predicted, count in score.top_confusions(_NUM_CONFUSIONS):
        table.add_row(
            escape(gold), escape(predicted), f"{count:,}", f"{100 * count / num_wrong:.1f} %"
        )
    return table
