"""The model card of an exported version: entries from its run, and the page made from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tf_charagram._common.reporting import number
from tf_charagram._files.json_files import read_json
from tf_charagram.export._serving.requests import make_inputs
from tf_charagram.models._storage.locations import EMBEDDER, model_class, read_card
from tf_charagram.models.base import TextModel
from tf_charagram.training._loop.run_folder import RunFolder

_FROM_METRICS = ("scores", "num_pairs", "steps", "training_seconds")
_HOW_TO_CALL = """\
Any texts as UTF-8, including empty ones and broken bytes. (n) is any number.

| signature | inputs | outputs |
|---|---|---|
{table}
{requests}
```python
{imports}
model = tf.saved_model.load("{folder}")
model.signatures["serving_default"]({arguments})
```"""


def about_run(path: str | Path) -> dict[str, Any]:
    """Returns the settings and scores of the run that trained a model, for its model card.

    Args:
        path: A run folder, the `model` folder in one, or the name of a shipped model, which has a
            card. Empty for other paths.
    """
    card = read_card(path)
    if card:
        return {"pretrained": card}
    path = Path(path)
    for folder in (RunFolder(path), RunFolder(path.parent)):
        try:
            config = read_json(folder.config)
            metrics = read_json(folder.metrics)
            about = {name: config[name] for name in ("settings", "data_files")}
        except (OSError, ValueError, KeyError, TypeError):
            # A model folder is no run folder, and a stopped run has no metrics.
            continue
        for name in _FROM_METRICS:
            if name in metrics:
                about[name] = metrics[name]
        return {"training": about}
    return {}


def page(card: dict[str, Any], name: str, version: int = 1) -> str:
    """Formats the card of a version as a page of Markdown."""
    text = f"# {name}\n\n{_summary(card)}\n\n## How to call\n\n{_calls(card, name, version)}\n"
    for title, values in _sections(card).items():
        lines = [f"* {key}: {value}\n" for key, value in values.items() if value is not None]
        if lines:
            text += f"\n## {title}\n\n{''.join(lines)}"
    return text


def _summary(card: dict[str, Any]) -> str:
    return (
        f"{_class_of(card).purpose}: `{card['encoder']['name']}`, {card['dim']} dimensions, "
        f"{card['vectorizer']['num_rows']:,} rows, {card['num_parameters']:,} parameters, "
        f"{card['size_bytes'] / 1e6:,.1f} MB."
    )


def _class_of(card: dict[str, Any]) -> type[TextModel]:
    return model_class(card.get("kind", EMBEDDER))


def _sections(card: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns title -> facts by name; empty sections are not shown."""
    # A model has one of the two: a run that trained it, or the card of a shipped model.
    training = card.get("training", {})
    pretrained = card.get("pretrained", {})
    libraries = {name: ", ".join(ops) for name, ops in card["required_ops"].items()}
    licences = {}
    if pretrained:
        sources = [pretrained, *pretrained.get("data", ()), *pretrained.get("teachers", ())]
        licences = {source["name"]: source["licence"] for source in sources}
    before = " before it was made smaller" if "made_smaller" in card else ""
    run_scores = training.get("scores", {})
    scores = {set_name: number(value) for set_name, value in run_scores.items()}
    files = {}
    for path, digest in training.get("data_files", {}).items():
        files[Path(path).name] = f"SHA-256 `{digest}`"
    return {
        "Operations besides TensorFlow's own": libraries,
        "Data and licences": licences,
        "Made smaller": card.get("made_smaller", {}),
        f"Scores{before}: {_class_of(card).score_title}": scores,
        "Training data": files,
        "Encoder": card["encoder"],
        "Text": card["vectorizer"],
        "Head": card.get("head", {}),
        "Made with": card["versions"],
    }


def _calls(card: dict[str, Any], name: str, version: int) -> str:
    """Formats how to call each signature over REST, and the default in Python."""
    table = ""
    requests = ""
    for key, signature in card["signatures"].items():
        inputs = _tensors(signature["inputs"])
        outputs = _tensors(signature["outputs"])
        table += f"| `{key}` | {inputs} | {outputs} |\n"
        body = json.dumps({"signature_name": key, "inputs": _examples(signature)})
        requests += f"    curl -d '{body}' \\\n"
        requests += f"        http://localhost:8501/v1/models/{name}:predict\n"
    imports = "import tensorflow as tf\n"
    if "tensorflow-text" in card["required_ops"]:
        imports += "import tensorflow_text  # registers operations of the model\n"
    examples = _examples(card["signatures"]["serving_default"])
    arguments = ", ".join(f"{key}=tf.constant({values})" for key, values in examples.items())
    return _HOW_TO_CALL.format(
        table=table,
        requests=requests,
        imports=imports,
        folder=f"models/{name}/{version}",
        arguments=arguments,
    )


def _examples(signature: dict[str, Any]) -> dict[str, list[str | int]]:
    """Returns values of the inputs of a signature."""
    inputs = make_inputs(signature["inputs"], [b"It works", b"Does it"], [b"It runs", b"No"])
    examples = {}
    for name, values in inputs.items():
        examples[name] = [v.decode() if isinstance(v, bytes) else v for v in values]
    return examples


def _tensors(tensors: dict[str, Any]) -> str:
    """Formats tensors as `name` type (shape); n is any size."""
    parts = []
    for name, tensor in tensors.items():
        sizes = ["n" if size < 0 else str(size) for size in tensor["shape"]]
        parts.append(f"`{name}` {tensor['dtype']} ({', '.join(sizes)})")
    return ", ".join(parts)
