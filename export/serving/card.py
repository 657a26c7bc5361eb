"""The model card of an exported version: entries from its run, and the page made from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tf_charagram.export.serving.samples import make_inputs
from tf_charagram.files.json_files import read_json
from tf_charagram.models.base import TextModel
from tf_charagram.models.locations import EMBEDDER, model_class, read_card
from tf_charagram.training.run_folder import RunFolder

PAGE = "README.md"
_FROM_METRICS = ("scores", "num_pairs", "steps", "training_seconds")


def about_run(path: str | Path) -> dict[str, Any]:
    """Returns the settings and scores of the run that trained a model, for its model card.

    Args:
        path: A run folder, the `model` folder in one, or the name of a shipped model, which has a
            card. Empty for other paths.
    """
    if card := read_card(path):
        return {"pretrained": card}
    path = Path(path)
    for folder in (RunFolder(path), RunFolder(path.parent)):
        try:
            config = read_json(folder.config)
            metrics = read_json(folder.metrics)
            return {
                "training": {
                    "settings": config["settings"],
                    "data_files": config["data_files"],
                    **{name: metrics[name] for name in _FROM_METRICS if name in metrics},
                }
            }
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return {}


def class_of(card: Mapping[str, Any]) -> type[TextModel]:
    """Returns the class of the model that a card describes.

    Raises:
        ConfigError: There is no such kind of model.
    """
    cls: type[TextModel] = model_class(card.get("kind", EMBEDDER))
    return cls


def page(card: dict[str, Any], name: str, version: int = 1) -> str:
    """Formats the card of a version as a page of Markdown."""
    model_class, training = class_of(card), card.get("training", {})
    ops = {library: ", ".join(names) for library, names in card["required_ops"].items()}
    scores = {key: "-" if value is None else f"{value:.2f}"
              for key, value in training.get("scores", {}).items()}  # fmt: skip
    files = {Path(path).name: f"SHA-256 `{digest}`"
             for path, digest in training.get("data_files", {}).items()}  # fmt: skip
    before = " before it was made smaller" if "made_smaller" in card else ""
    sections = {
        "How to call": _calls(card, name, version),
        "Operations besides TensorFlow's own": _list(ops),
        "Data and licences": _licences(card.get("pretrained")),
        "Made smaller": _list(card.get("made_smaller", {})),
        f"Scores{before}: {model_class.score_title}": _list(scores),
        "Training data": _list(files),
        "Encoder": _list(card["encoder"]),
        "Text": _list(card["vectorizer"]),
        "Head": _list(card.get("head", {})),
        "Made with": _list(card["versions"]),
    }
    summary = (
        f"{model_class.purpose}: `{card['encoder']['name']}`, {card['dim']} dimensions, "
        f"{card['vectorizer']['num_rows']:,} rows, {card['num_parameters']:,} parameters, "
        f"{card['size_bytes'] / 1e6:,.1f} MB."
    )
    parts = [f"## {title}\n\n{text}" for title, text in sections.items() if text]
    return "\n\n".join([f"# {name}", summary, *parts]) + "\n"


def _calls(card: dict[str, Any], name: str, version: int) -> str:
    """Formats how to call each signature, over REST and in Python."""
    rows = ["| signature | inputs | outputs |", "|---|---|---|"]
    requests, python = [], ""
    for key, signature in card["signatures"].items():
        sides = (_tensors(signature[side]) for side in ("inputs", "outputs"))
        rows.append(f"| `{key}` | {' | '.join(sides)} |")
        inputs = make_inputs(signature["inputs"], [b"It works", b"Does it"], [b"It runs", b"No"])
        sent = {
            key: [value.decode() if isinstance(value, bytes) else value for value in values]
            for key, values in inputs.items()
        }
        body = json.dumps({"signature_name": key, "inputs": sent})
        url = f"http://localhost:8501/v1/models/{name}:predict"
        requests.append(f"    curl -d '{body}' \\\n        {url}")
        arguments = ", ".join(f"{key}=tf.constant({values})" for key, values in sent.items())
        python = python or f'model.signatures["{key}"]({arguments})'
    has_text = "tensorflow-text" in card["required_ops"]
    text = "\nimport tensorflow_text  # registers operations of the model" if has_text else ""
    return "\n".join([
        "Any texts as UTF-8, including empty ones and broken bytes. (n) is any number.\n",
        *rows, "", *requests, "", "```python", f"import tensorflow as tf{text}\n",
        f'model = tf.saved_model.load("models/{name}/{version}")', python, "```",
    ])  # fmt: skip


def _tensors(tensors: dict[str, Any]) -> str:
    """Formats tensors as `name` type (shape); n is any size."""
    return ", ".join(
        f"`{name}` {tensor['dtype']} "
        f"({', '.join('n' if size < 0 else str(size) for size in tensor['shape'])})"
        for name, tensor in tensors.items()
    )


def _licences(card: dict[str, Any] | None) -> str:
    sources = [card, *card.get("data", ()), *card.get("teachers", ())] if card else []
    return _list({source["name"]: source["licence"] for source in sources})


def _list(values: Mapping[str, Any]) -> str:
    return "\n".join(f"* {key}: {value}" for key, value in values.items() if value is not None)
