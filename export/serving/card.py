"""The model card of an exported version: entries from its run, and the page made from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tf_charagram.export.serving.requests import make_inputs
from tf_charagram.files.json_files import read_json
from tf_charagram.models.locations import EMBEDDER, model_class, read_card
from tf_charagram.training.run_folder import RunFolder

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
            config, metrics = read_json(folder.config), read_json(folder.metrics)
            about = {name: config[name] for name in ("settings", "data_files")}
            about |= {name: metrics[name] for name in _FROM_METRICS if name in metrics}
            return {"training": about}
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return {}


def page(card: dict[str, Any], name: str, version: int = 1) -> str:
    """Formats the card of a version as a page of Markdown."""
    cls, training = model_class(card.get("kind", EMBEDDER)), card.get("training", {})
    pretrained = card.get("pretrained", {})
    sources = [pretrained, *pretrained.get("data", ()), *pretrained.get("teachers", ())]
    before = " before it was made smaller" if "made_smaller" in card else ""
    sections = {
        "Operations besides TensorFlow's own": {
            library: ", ".join(names) for library, names in card["required_ops"].items()
        },
        "Data and licences": {source["name"]: source["licence"] for source in sources if source},
        "Made smaller": card.get("made_smaller", {}),
        f"Scores{before}: {cls.score_title}": {
            key: "-" if value is None else f"{value:.2f}"
            for key, value in training.get("scores", {}).items()
        },
        "Training data": {
            Path(path).name: f"SHA-256 `{digest}`"
            for path, digest in training.get("data_files", {}).items()
        },
        "Encoder": card["encoder"],
        "Text": card["vectorizer"],
        "Head": card.get("head", {}),
        "Made with": card["versions"],
    }
    summary = (
        f"{cls.purpose}: `{card['encoder']['name']}`, {card['dim']} dimensions, "
        f"{card['vectorizer']['num_rows']:,} rows, {card['num_parameters']:,} parameters, "
        f"{card['size_bytes'] / 1e6:,.1f} MB."
    )
    parts = [f"# {name}", summary, "## How to call", _calls(card, name, version)]
    for title, values in sections.items():
        if lines := [f"* {key}: {value}" for key, value in values.items() if value is not None]:
            parts += [f"## {title}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _calls(card: dict[str, Any], name: str, version: int) -> str:
    """Formats how to call each signature over REST, and the default in Python."""
    rows, requests, calls = ["| signature | inputs | outputs |", "|---|---|---|"], [], {}
    for key, signature in card["signatures"].items():
        sides = (_tensors(signature[side]) for side in ("inputs", "outputs"))
        rows.append(f"| `{key}` | {' | '.join(sides)} |")
        inputs = make_inputs(signature["inputs"], [b"It works", b"Does it"], [b"It runs", b"No"])
        sent = {
            name: [value.decode() if isinstance(value, bytes) else value for value in values]
            for name, values in inputs.items()
        }
        body = json.dumps({"signature_name": key, "inputs": sent})
        url = f"http://localhost:8501/v1/models/{name}:predict"
        requests.append(f"    curl -d '{body}' \\\n        {url}")
        arguments = ", ".join(f"{name}=tf.constant({values})" for name, values in sent.items())
        calls[key] = f'model.signatures["{key}"]({arguments})'
    has_text = "tensorflow-text" in card["required_ops"]
    text = "\nimport tensorflow_text  # registers operations of the model" if has_text else ""
    return "\n".join(
        [
            "Any texts as UTF-8, including empty ones and broken bytes. (n) is any number.\n",
            *rows,
            "",
            *requests,
            "",
            "```python",
            f"import tensorflow as tf{text}\n",
            f'model = tf.saved_model.load("models/{name}/{version}")',
            calls["serving_default"],
            "```",
        ]
    )


def _tensors(tensors: dict[str, Any]) -> str:
    """Formats tensors as `name` type (shape); n is any size."""
    return ", ".join(
        f"`{name}` {tensor['dtype']} "
        f"({', '.join('n' if size < 0 else str(size) for size in tensor['shape'])})"
        for name, tensor in tensors.items()
    )
