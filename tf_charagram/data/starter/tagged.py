"""English sentences with a part of speech for each word, for first runs and tests of a tagger.

The sentences of `tagged.tsv` were written and tagged by hand for this project: news, mail, reviews,
questions, talk, recipes, science. The tags are those of the Penn Treebank, as the English Web
Treebank uses them: a hyphen is a word (`HYPH`), and `to` is `TO` before verbs only, else `IN`.
"""

from __future__ import annotations

from importlib import resources

from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.tasks.tagging.reader import TaggedSentence, read_tagged

# Of ten sentences in a row, eight are for training; neighbours are of one kind.
_PLACES = {"train": frozenset(range(8)), "dev": frozenset({8}), "test": frozenset({9})}


def tagged_sentences(split: str) -> list[TaggedSentence]:
    """Returns the sentences of one split, in the order of the file.

    Args:
        split: `"train"`, `"dev"` or `"test"`: eight tenths of the sentences, a tenth and a tenth.

    Raises:
        ConfigError: `split` is unknown.

    Example:
        >>> tagged_sentences("dev")[0].words
        ('Officials', 'denied', 'reports', 'of', 'a', 'leak', 'at', 'the', 'chemical', 'plant', '.')
    """
    if split not in _PLACES:
        raise ConfigError(unknown_name("split", split, _PLACES))
    with resources.as_file(resources.files(__package__).joinpath("tagged.tsv")) as path:
        sentences = list(read_tagged(path))
    return [sentence for i, sentence in enumerate(sentences) if i % 10 in _PLACES[split]]
