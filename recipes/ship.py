"""Freezes a trained model as one that ships with the package, in `tf_charagram/pretrained/NAME`.

    python recipes/ship.py runs/english english --dictionary words.tsv --facts facts.yaml

The facts are what cannot be computed: `summary`, `licence` of the model, `data` and `teachers`
(lists of `name`, `licence` and other known facts), `scores` (numbers by name) and `recipe`,
the command that makes the model again.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from tf_charagram._files.json_files import write_json
from tf_charagram._files.writing import replaced_folder, sha256_of, whole_file
from tf_charagram._version import __version__
from tf_charagram.cli._flags.flags import Parser
from tf_charagram.cli.commands import run_command
from tf_charagram.data._tables.lines import read_lines
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.models._storage.locations import CARD, PRETRAINED, WORDS

MAX_BYTES = 10_500_000
_REQUIRED = ("summary", "licence", "data", "scores", "recipe")
_OPTIONAL = ("teachers", "notes")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


def read_facts(path: str | Path) -> dict[str, Any]:
    """Reads the facts of a model from YAML or JSON.

    Raises:
        ConfigError: The file cannot be read, a fact is missing or unknown, or has another form.
    """
    try:
        facts = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    if not isinstance(facts, dict):
        raise ConfigError(f"{path} must hold facts by name: {', '.join(_REQUIRED)}.")
    for name in facts.keys() - {*_REQUIRED, *_OPTIONAL}:
        raise ConfigError(f"{path}: {unknown_name('fact', name, (*_REQUIRED, *_OPTIONAL))}")
    if missing := [name for name in _REQUIRED if not facts.get(name)]:
        raise ConfigError(f"{path} lacks {', '.join(missing)}.")
    for name in ("data", "teachers"):
        for source in facts.get(name) or ():
            if not (isinstance(source, dict) and source.get("name") and source.get("licence")):
                raise ConfigError(
                    f"{path}: `{name}` needs `name` and `licence`. Received: {source}"
                )
    scores = facts["scores"]
    if not (isinstance(scores, dict) and all(isinstance(v, int | float) for v in scores.values())):
        raise ConfigError(f"{path}: `scores` must be numbers by name. Received: {scores}")
    return facts


def read_words(path: str | Path, max_words: int | None = None) -> list[str]:
    """Returns the distinct words of a file, in its order: most frequent first.

    Raises:
        ConfigError: There is no word.
        DataError: The file cannot be read.
    """
    words = list(dict.fromkeys(line.strip() for _, line in read_lines(path)))
    words = [word for word in words if word][:max_words]
    if not words:
        raise ConfigError(f"{path} has no word.")
    return words


def ship(
    model: Any,
    name: str,
    words: Sequence[str] | None,
    facts: dict[str, Any],
    folder: str | Path,
    table_dtype: str = "int8",
) -> dict[str, Any]:
    """Writes the folder of a model that ships: small tables, words and card.

    Args:
        model: The model, a `TextModel`.
        name: Its name, of small letters, digits and hyphens.
        words: What `charagram search` searches, most frequent first; `None` for the words of the
            dictionary of the model.
        facts: The output of `read_facts`, and other facts for the card.
        folder: Where the folder of the name goes; an older one is replaced.
        table_dtype: `"float16"`, `"int8"` or `"int4"`, see `TextModel.save`.

    Returns:
        The card.

    Raises:
        ConfigError: The name has another form, or the files are more than 10.5 MB together.
        RunError: It cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"`name` must be small letters, digits and hyphens. Received: {name}")
    with replaced_folder(Path(folder) / name, CARD) as partial:
        model.save(partial, table_dtype=table_dtype)
        if words is not None:
            with whole_file(partial / WORDS) as file:
                text = "".join(f"{word}\n" for word in words).encode()
                file.write(gzip.compress(text, mtime=0))
        files = sorted(partial.iterdir())
        card = {
            "name": name,
            **facts,
            "num_parameters": model.count_params(),
            "num_words": len(model.vectorizer.dictionary if words is None else words),
            "files": {
                file.name: {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
                for file in files
            },
            "tf_charagram": __version__,
        }
        write_json(partial / CARD, card)
        size = sum(file.stat().st_size for file in partial.iterdir())
        if size > MAX_BYTES:
            raise ConfigError(
                f"A model that ships must have at most {MAX_BYTES:,} bytes. Received: {size:,}. "
                "Use --max-ngrams, --dim or --table-dtype int4, or fewer words."
            )
    return card


def _smaller(model: Any, max_ngrams: int | None, count_power: float, dim: int | None) -> Any:
    """Returns an embedder with fewer n-grams or dimensions, float32 and not folded."""
    from tf_charagram.export._compression.shrinking import projected, pruned

    vectorizer, encoder = model.parts
    if max_ngrams is not None:
        vectorizer, encoder = pruned(vectorizer, encoder, max_ngrams, count_power)
    if dim is not None:
        encoder = projected(encoder, dim)
    return model.from_parts(vectorizer, encoder, task=model.task)


def _in_one_form(model: Any) -> Any:
    """Returns an embedder that folds texts and its dictionary to ASCII where it can."""
    from tf_charagram.export._compression.shrinking import with_ngrams
    from tf_charagram.text._algorithm.keys import renumbered_keys
    from tf_charagram.text._spelling.dictionary import Dictionary
    from tf_charagram.text.alphabet import Alphabet
    from tf_charagram.text.vocabulary import NgramVocabulary

    vectorizer, encoder = model.parts
    old = vectorizer.vocabulary
    rows = np.flatnonzero([ngram.isascii() for ngram in old.ngrams()])
    # Signs without n-grams, such as "#", stay in the alphabet: texts with and without are alike.
    alphabet = Alphabet(old.alphabet.characters[old.alphabet.characters < 128])
    symbols = alphabet.symbols_of(old.alphabet)
    keys = renumbered_keys(old.keys[rows], symbols, old.bits, old.orders[-1])
    vocabulary = NgramVocabulary(old.orders, alphabet, keys, old.counts[rows])
    vectorizer, encoder = with_ngrams(vectorizer, encoder, vocabulary, rows)
    folding, dictionary = vectorizer.with_parts(vocabulary, None, fold_characters=True), None
    if vectorizer.dictionary is not None:
        folded = vectorizer.dictionary.respelled(folding.read_as)
        counts = zip(folded.words, np.exp2(folded.log_counts).round().tolist(), strict=True)
        dictionary = Dictionary({word: int(count) for word, count in counts if word.isascii()})
    vectorizer = folding.with_parts(vocabulary, dictionary)
    return model.from_parts(vectorizer, encoder, task=model.task)


def _with_unknown_rows(model: Any, number: int) -> Any:
    """Returns an embedder with random rows, as long as the others, for unknown characters."""
    from tf_charagram.export._compression.shrinking import remade

    vectorizer, encoder = model.parts
    table = encoder.ngram_table.numpy()
    rows = np.random.default_rng(0).standard_normal((number, table.shape[1]))
    rows *= np.linalg.norm(table, axis=1).mean() / np.linalg.norm(rows, axis=1, keepdims=True)
    table = np.concatenate([table, rows.astype(np.float32)])
    values = [
        table if weight is encoder.ngram_table else weight.numpy() for weight in encoder.weights
    ]
    encoder = remade(encoder, values, num_rows=len(table))
    vectorizer = vectorizer.with_parts(
        vectorizer.vocabulary, vectorizer.dictionary, unknown_rows=number
    )
    return model.from_parts(vectorizer, encoder, task=model.task)


def _round_table(model: Any, path: str, table_dtype: str) -> None:
    sys.path.append(str(Path(__file__).parents[1]))  # The script may run in any folder.
    from recipes.rounding import round_for_texts

    round_for_texts(model, path, table_dtype)


def _with_dictionary(model: Any, path: str, max_words: int | None) -> Any:
    """Returns an embedder that reads misspelled words as the most frequent ones of a file.

    Words without an n-gram that it has are left out: all of them have the same vector.
    """
    from tf_charagram.data.readers.words import read_word_counts
    from tf_charagram.text._algorithm.tensors import string_tensor
    from tf_charagram.text._algorithm.word_boundaries import words_of
    from tf_charagram.text._spelling.dictionary import Dictionary, counts_of_entries

    counts = counts_of_entries(read_word_counts(path, words_of), words_of)
    vectorizer, *others = model.parts
    words = [*counts]
    num_ids = vectorizer.as_written()(string_tensor(words)).row_lengths().numpy()
    has_vector = dict(zip(words, num_ids > 0, strict=True))
    kept = ((word, count) for word, count in counts.most_common(max_words) if has_vector[word])
    dictionary = Dictionary(dict(kept)).respelled(vectorizer.as_written().read_as)
    vectorizer = vectorizer.with_parts(vectorizer.vocabulary, dictionary)
    return model.from_parts(vectorizer, *others, task=model.task)


def _with_accepted_words(model: Any, path: str) -> Any:
    """Returns an embedder that reads further words as they are written; needs a dictionary."""
    from tf_charagram.text._spelling.word_filter import WordFilter

    vectorizer, *others = model.parts
    if vectorizer.dictionary is None:
        raise ConfigError("--accepted-words needs a model with a dictionary, or --dictionary.")
    words = vectorizer.as_written().read_as(read_words(path))
    dictionary = vectorizer.dictionary.with_accepted_words(WordFilter.from_words(words))
    vectorizer = vectorizer.with_parts(vectorizer.vocabulary, dictionary)
    return model.from_parts(vectorizer, *others, task=model.task)


def _with_sureness(model: Any, path: str) -> Any:
    """Returns an embedder whose readings are as sure as weights of a file say."""
    vectorizer, *others = model.parts
    weights = np.loadtxt(path, np.int32)
    dictionary = vectorizer.dictionary.with_sureness(weights)
    vectorizer = vectorizer.with_parts(vectorizer.vocabulary, dictionary)
    return model.from_parts(vectorizer, *others, task=model.task)


def _with_weights(model: Any, path: str) -> Any:
    """Returns an embedder that weighs words as a file says; needs a dictionary."""
    vectorizer, *others = model.parts
    if vectorizer.dictionary is None:
        raise ConfigError("--word-weights needs a model with a dictionary, or --dictionary.")
    lines = [line.split("\t") for _, line in read_lines(path)]
    weights = {word: float(weight) for word, weight in lines}
    dictionary = vectorizer.dictionary.with_weights(weights, weights["*"])
    vectorizer = vectorizer.with_parts(vectorizer.vocabulary, dictionary)
    return model.from_parts(vectorizer, *others, task=model.task)


def _with_signs(model: Any) -> Any:
    """Returns an embedder in which signs without n-grams share the rows of unknown characters."""
    vectorizer, *others = model.parts
    vectorizer = vectorizer.with_parts(
        vectorizer.vocabulary, vectorizer.dictionary, hash_signs=True
    )
    return model.from_parts(vectorizer, *others, task=model.task)


def _training_facts(model: str) -> dict[str, Any]:
    """Returns the settings of the run, without local paths."""
    from tf_charagram.export._serving.card import about_run

    training = about_run(model).get("training")
    if training is None:
        return {}
    files = {Path(path).name: digest for path, digest in training["data_files"].items()}
    kept = {name: training[name] for name in ("steps", "training_seconds", "num_pairs")
            if name in training}  # fmt: skip
    return {"training": {**kept, "data_files": files}}


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="python recipes/ship.py", description=__doc__)
    parser.add_argument("model", help="run folder or model folder")
    parser.add_argument("name", help="name of the model")
    parser.add_argument("--words", help="words to search, most frequent first")
    parser.add_argument(
        "--dictionary",
        help="in the place of --words: words and their counts; misspelled ones are read as these "
        "[the dictionary of the model]",
    )  # fmt: skip
    parser.add_argument(
        "--accepted-words", help="lowercase words that the dictionary must not read as others"
    )
    parser.add_argument(
        "--sureness", help="weights of the sureness of readings, from recipes/sureness.py"
    )
    parser.add_argument(
        "--word-weights",
        help="weights of the words of the dictionary, from recipes/word_weights.py [1]",
    )
    parser.add_argument(
        "--hash-signs", action="store_true",
        help="give signs without n-grams the rows of unknown characters [no]",
    )  # fmt: skip
    parser.add_argument("--facts", required=True, help="YAML or JSON file, see above")
    parser.add_argument("--max-words", type=int, help="keep the first [all]")
    parser.add_argument("--max-ngrams", type=int, help="keep those that matter most [all]")
    parser.add_argument(
        "--count-power", type=float, default=1.0,
        help="n-grams matter by count to this power, times norm [1]",
    )  # fmt: skip
    parser.add_argument(
        "--fold", action="store_true",
        help="keep ASCII n-grams only, and read other forms of texts as ASCII [no]",
    )  # fmt: skip
    parser.add_argument(
        "--unknown-rows", type=int, default=0, help="random rows for unknown characters [0]"
    )
    parser.add_argument("--no-bias", action="store_true", help="set the bias to zero [no]")
    parser.add_argument("--dim", type=int, help="project to this width [no]")
    parser.add_argument("--table-dtype", default="int8", help="float16, int8 or int4 [int8]")
    parser.add_argument(
        "--texts", 
        help="round the table for these, one per line [to the nearest]",
    )  # fmt: skip
    parser.add_argument("--to", default=str(PRETRAINED), help="folder of all models")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Runs the script; returns its exit status."""
    values = make_parser().parse_args(arguments)
    if values.words is not None and values.dictionary is not None:
        raise ConfigError("Give only one of --words and --dictionary.")
    facts = read_facts(values.facts)
    words = None if values.words is None else read_words(values.words, values.max_words)
    from tf_charagram.models._storage.locations import load_any

    model = load_any(values.model)
    if words is None and values.dictionary is None and model.vectorizer.dictionary is None:
        raise ConfigError("The model has no dictionary. Give --words or --dictionary.")
    if values.fold:
        model = _in_one_form(model)
    if values.max_ngrams is not None or values.dim is not None:
        model = _smaller(model, values.max_ngrams, values.count_power, values.dim)
    if values.unknown_rows:
        model = _with_unknown_rows(model, values.unknown_rows)
    if values.no_bias:
        model.encoder.bias.assign(np.zeros(model.dim))
    if values.texts is not None:
        _round_table(model, values.texts, values.table_dtype)
    if values.dictionary is not None:
        model = _with_dictionary(model, values.dictionary, values.max_words)
    if values.accepted_words is not None:
        model = _with_accepted_words(model, values.accepted_words)
    if values.sureness is not None:
        model = _with_sureness(model, values.sureness)
    if values.word_weights is not None:
        model = _with_weights(model, values.word_weights)
    if values.hash_signs:
        model = _with_signs(model)
    facts = {**facts, **_training_facts(values.model)}
    card = ship(model, values.name, words, facts, values.to, values.table_dtype)
    folder = Path(values.to, values.name)
    for file in sorted(folder.iterdir()):
        sys.stdout.write(f"{file.stat().st_size:10,}  {file}\n")
    size = sum(file.stat().st_size for file in folder.iterdir())
    sys.stdout.write(f"{size:10,}  bytes of at most {MAX_BYTES:,}; {card['num_words']:,} words\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
