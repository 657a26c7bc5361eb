"""Texts per second of `encode` and of a SavedModel, against other packages.

    python benchmarks/embed.py [--peer-python PYTHON] [--minilm MODEL] [--model2vec FOLDER]

Words are those of a file of pairs, sentences both sides of the STS sets. Each contender is a
process of its own; they take turns, and each gets as many texts as it embeds in about a second.
`encode` and the SavedModel have a vocabulary of the words and 300 dimensions, like fastText and
gensim, which are trained on the words for an epoch, only for their tables. `english` is the model
that ships. fastText knows all words, gensim none of them: it would look up whole words. The
SavedModel gets batches of 4,000 from one thread, `SavedModel-2` from two, whose operations have one
each, as those of `encode`; fastText and gensim get a text per call.

A model of model2vec that is not there is distilled from the MiniLM first, which takes minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import common
import processes
from processes import Contender, ContenderError

_PACKAGES = Path(__file__).with_name("packages.py")
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
#: Name of a contender -> the package that an interpreter needs for it; of ours, none.
PEERS = {
    "fastText": "fasttext", "model2vec": "model2vec", "MiniLM": "sentence-transformers",
    "hashing": "scikit-learn", "tf-idf": "scikit-learn", "gensim": "gensim",
}  # fmt: skip
KINDS = ("words", "sentences")


def save_model(folder: Path, words: list[str]) -> None:
    """Saves a model of these words, as a folder and as a SavedModel; its weights are random."""
    from tf_charagram.encoders.charagram import Charagram
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
    from tf_charagram.training._loop.building import make_vectorizer

    vectorizer = make_vectorizer(ParaphraseConfig(), words)
    embedder = TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows))
    embedder.save(folder / "model")
    embedder.export(folder / "saved_model")


def contenders(arguments: argparse.Namespace, folder: Path) -> dict[str, tuple[str, str]]:
    """Returns the package and the model of each, by name; `encode` comes first."""
    words = str(folder / "words.txt")
    return {
        "encode": ("charagram", str(folder / "model")),
        "SavedModel": ("saved-model", str(folder / "saved_model")),
        "SavedModel-2": ("saved-model-2", str(folder / "saved_model")),
        "english": ("charagram", "english"),
        "fastText": ("fasttext", words),
        "model2vec": ("model2vec", arguments.model2vec),
        "MiniLM": ("sentence-transformers", arguments.minilm),
        "hashing": ("hashing", words),
        "tf-idf": ("tfidf", words),
        "gensim": ("gensim", words),
    }


def prepare(arguments: argparse.Namespace, folder: Path, chosen: list[str]) -> None:
    """Writes the texts, and the models that are not there."""
    texts = common.texts_of(common.word_pairs(arguments.data))
    words = [word for word in texts if " " not in word]
    (folder / "words.txt").write_text("\n".join(words), encoding="utf-8")
    for kind, sample in zip(KINDS, (words, common.sts_lines()), strict=True):
        mixed = random.Random(1).sample(sample, len(sample))
        (folder / f"{kind}.json").write_text(json.dumps(mixed), encoding="utf-8")
    # In a process of its own, so that this one has no threads of TensorFlow.
    if {"encode", "SavedModel", "SavedModel-2"} & set(chosen):
        command = [sys.executable, __file__, "--save-model", str(folder)]
        subprocess.run(command, check=True)
    if "model2vec" in chosen and not Path(arguments.model2vec).is_dir():
        print("model2vec: distilling", flush=True)
        command = [arguments.peer_python, _PACKAGES, "distill", arguments.minilm]
        subprocess.run([*command, arguments.model2vec], stderr=subprocess.DEVNULL, check=False)


def measure(
    kind: str,
    specs: dict[str, tuple[str, str]],
    folder: Path,
    arguments: argparse.Namespace,
    left_out: dict[str, str],
) -> dict:
    """Returns the rates of all that start; adds the others to `left_out`."""
    with ExitStack() as stack:
        runs: dict[str, Contender] = {}
        for name, (package, model) in specs.items():
            python = arguments.peer_python if name in PEERS else sys.executable
            texts = (folder / f"{kind}.json", str(arguments.seconds))
            command = [python, _PACKAGES, "time", package, model, kind, *texts]
            try:
                runs[name] = stack.enter_context(Contender(command))
            except ContenderError as error:
                if name not in PEERS:
                    raise
                left_out[name] = str(error)
                print(f"{kind}, {name}: left out: {error}", flush=True)
        if not runs:
            return {}
        work = {name: run.facts["texts"] for name, run in runs.items()}
        rates = common.compare(arguments.rounds, runs, work, f"{kind}/s")
        for ours, peer in itertools.product(runs, ("fastText", "model2vec")):
            if ours not in PEERS and peer in runs:
                rates[f"{ours}/{peer}"] = rates[ours].over(rates[peer])
        return rates | {"dims": {name: run.facts["dim"] for name, run in runs.items()}}


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, data=common.WORDS, peers=True)
    parser.add_argument("--minilm", default=MINILM, help="name or folder")
    parser.add_argument("--model2vec", default="runs/peers/model2vec", help="folder")
    parser.add_argument("--contenders", help="names, separated by commas; all by default")
    parser.add_argument("--kinds", default=",".join(KINDS), help="words or sentences, or both")
    parser.add_argument("--seconds", type=float, default=1.0, help="about how long a call takes")
    arguments = parser.parse_args()
    found, result = processes.peer_facts(arguments.peer_python, PEERS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        specs = contenders(arguments, folder)
        chosen = arguments.contenders.split(",") if arguments.contenders else list(specs)
        chosen = [name for name in chosen if name not in PEERS or PEERS[name] in found]
        prepare(arguments, folder, chosen)
        for kind in arguments.kinds.split(","):
            kept = {each: specs[each] for each in chosen}
            result[kind] = measure(kind, kept, folder, arguments, result["left_out"])
            print(f"{kind}: {result[kind]}", flush=True)
    common.finish("embed", result, arguments)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--save-model"]:
        place = Path(sys.argv[2])
        save_model(place, (place / "words.txt").read_text(encoding="utf-8").split("\n"))
    else:
        main()
