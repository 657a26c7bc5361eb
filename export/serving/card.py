"""What is known of an exported model: from its run folder, and as a page to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tf_charagram.export.serving.folder import ServingFolder
from tf_charagram.export.serving.inputs import make_inputs
from tf_charagram.files.json_files import read_json
from tf_charagram.files.writing import whole_file
from tf_charagram.models.base import TextModel
from tf_charagram.models.locations import EMBEDDER, read_card
from tf_charagram.models.registry import model_class
from tf_charagram.models.saved_model import MODEL_CARD
from tf_charagram.training.run_folder import RunFolder

PAGE = "README.md"
_FROM_METRICS = ("scores", "num_pairs", "steps", "training_seconds")


def about_run(path: str | Path) -> dict[str, Any]:
    """Returns how a model was trained and what it scored, if its run folder tells.

    Args:
        path: A run folder, or the `model` folder in one; or the name of a shipped model, for which
            it is the card it comes with. For anything else, nothing.
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
    """Returns the class of the model that a card describes; where it names no kind, an embedder.

    Raises:
        ConfigError: There is no such kind of model.
    """
    cls: type[TextModel] = model_class(card.get("kind", EMBEDDER))
    return cls


def write_page(partial: str | Path, name: str) -> None:
    """Writes the card of the next version, `model_card.json`, as a page of Markdown beside it.

    Args:
        partial: Folder with the card, among the versions of the model, to be renamed to the next.
        name: Name of the model.
    """
    partial = Path(partial)
    card = read_json(partial / MODEL_CARD)
    version = int(ServingFolder(partial.parent).next.name)
    with whole_file(partial / PAGE, "w") as file:
        file.write(page(card, name, version))


def page(card: dict[str, Any], name: str, version: int = 1) -> str:
    """Returns the page of the card of a version."""
    path = f"models/{name}/{version}"
    calls = _signatures(card, name, path) if "head" in card else _calls(card, name, path)
    parts = [f"# {name}", _summary(card), "## How to call", calls]
    if "pretrained" in card:
        parts += ["## Data and licences", _licences(card["pretrained"])]
    smaller = card.get("made_smaller")
    if smaller:
        parts += ["## Made smaller", _list(smaller)]
    training = card.get("training", {})
    if training.get("scores"):
        before = "Before it was made smaller.\n\n" if smaller else ""
        parts += ["## Scores", before + _scores(training["scores"], class_of(card).score_title)]
    if training:
        files = [f"`{Path(path).name}`, SHA-256 `{digest}`"
                 for path, digest in training["data_files"].items()]  # fmt: skip
        data = "\n".join(f"* {file}" for file in files) or "The starter set of the package."
        pairs = f"{training['num_pairs']:,} pairs.\n\n" if "num_pairs" in training else ""
        parts += ["## Training data", pairs + data]
    settings = {key: value for key, value in card["encoder"].items() if key != "name"}
    parts += ["## Encoder", _list(settings), "## Text", _list(card["vectorizer"])]
    if "head" in card:
        parts += ["## Head", _list(card["head"])]
    parts += ["## Made with", _list(card["versions"])]
    return "\n\n".join(parts) + "\n"


def _summary(card: dict[str, Any]) -> str:
    needed = {library: len(ops) for library, ops in card["required_ops"].items()}
    ops = ", ".join(f"{count} of {library}" for library, count in needed.items())
    return (
        f"{class_of(card).purpose}: `{card['encoder']['name']}`, {card['dim']} dimensions, "
        f"{card['vectorizer']['num_rows']:,} rows, {card['num_parameters']:,} parameters, "
        f"{card['size_bytes'] / 1e6:,.1f} MB.\n\n"
        f"Operations besides TensorFlow's own: {ops or 'none'}."
    )


def _calls(card: dict[str, Any], name: str, path: str) -> str:
    return f"""\
Any texts, as UTF-8; empty ones and broken bytes have a vector too.

    curl -d '{{"inputs": ["colour", "color"]}}' http://localhost:8501/v1/models/{name}:predict
    curl -d '{{"signature_name": "similarity",
        "inputs": {{"texts_a": ["colour"], "texts_b": ["color"]}}}}' \\
        http://localhost:8501/v1/models/{name}:predict

```python
import tensorflow as tf{_text_import(card)}

model = tf.saved_model.load("{path}")
model.signatures["serving_default"](texts=tf.constant(["colour", "color"]))["embedding"]
```"""


def _signatures(card: dict[str, Any], name: str, path: str) -> str:
    """Returns how to call each signature of a model that is not an embedder."""
    rows = ["| signature | takes | gives |", "|---|---|---|"]
    examples = []
    for key, signature in card["signatures"].items():
        sides = (_tensors(signature[side]) for side in ("inputs", "outputs"))
        rows.append(f"| `{key}` | {' | '.join(sides)} |")
        inputs = make_inputs(signature["inputs"], [b"It works", b"Does it"], [b"It runs", b"No"])
        sent = {
            key: [value.decode() if isinstance(value, bytes) else value for value in values]
            for key, values in inputs.items()
        }
        body = json.dumps({"signature_name": key, "inputs": sent})
        call = f"    curl -d '{body}' \\\n        http://localhost:8501/v1/models/{name}:predict"
        arguments = ", ".join(f"{key}=tf.constant({values})" for key, values in sent.items())
        examples.append((call, f'model.signatures["{key}"]({arguments})'))
    table, calls = "\n".join(rows), "\n".join(call for call, _ in examples)
    return f"""\
Any texts, as UTF-8; empty ones and broken bytes have an answer too. (n) is any number.

{table}

{calls}

```python
import tensorflow as tf{_text_import(card)}

model = tf.saved_model.load("{path}")
{examples[0][1]}
```"""


def _tensors(tensors: dict[str, Any]) -> str:
    """Returns tensors as `name` type (shape), where n is any number."""
    return ", ".join(
        f"`{name}` {tensor['dtype']} "
        f"({', '.join('n' if size < 0 else str(size) for size in tensor['shape'])})"
        for name, tensor in tensors.items()
    )


def _text_import(card: dict[str, Any]) -> str:
    """Returns the import that a model with operations of tensorflow-text needs."""
    has_text = "tensorflow-text" in card["required_ops"]
    return "\nimport tensorflow_text  # registers the operations it needs" if has_text else ""


def _scores(scores: dict[str, float | None], title: str) -> str:
    rows = (f"| {name} | {'-' if value is None else f'{value:.2f}'} |"
            for name, value in scores.items())  # fmt: skip
    return "\n".join([f"| set | {title} |", "|---|---:|", *rows])


def _licences(card: dict[str, Any]) -> str:
    """Returns where a shipped model comes from, as a list."""
    sources = [*card.get("data", ()), *card.get("teachers", ())]
    return _list({
        card["name"]: card["licence"], **{item["name"]: item["licence"] for item in sources},
    })  # fmt: skip


def _list(values: dict[str, Any]) -> str:
    return "\n".join(f"* {key}: {value}" for key, value in values.items() if value is not None)
