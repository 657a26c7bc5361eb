"""`charagram export`: from a run folder to a numbered version that TensorFlow Serving serves."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.field_flags import add_fields, from_flags
from tf_charagram.cli.flags import MODEL_HELP, FlagParser
from tf_charagram.errors import ConfigError
from tf_charagram.export.compression.options import ShrinkOptions
from tf_charagram.files.writing import check_local

if TYPE_CHECKING:
    from tf_charagram.export.serving.folder import ServingFolder
    from tf_charagram.models.base import TextModel

# What comes into a version besides the SavedModel, its golden vectors and warm-up requests.
_OTHER_BYTES = 50_000


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(prog="charagram export", description=__doc__)
    parser.add_argument("model", type=str, metavar="RUN", help=MODEL_HELP)
    parser.add_argument("--to", type=str, required=True, help="folder of the model: models/NAME")
    parser.add_argument(
        "--texts", type=str | None, default=None,
        help="file of texts for warm-up requests, one per line "
        "[what an embedder was trained on; else sentences of the starter set]",
    )  # fmt: skip
    parser.add_argument("--warmup", type=int, default=16, help="warm-up requests, 0 to 1,000")
    parser.add_argument(
        "--keep", type=int | None, default=None, help="delete all but the last versions [none]"
    )
    add_fields(parser, ShrinkOptions)
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    return parser


def export(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    if not 0 <= values.warmup <= 1000:
        raise ConfigError(f"`warmup` must be in [0, 1000]. Received: warmup={values.warmup}")
    if values.keep is not None and values.keep < 1:
        raise ConfigError(f"`keep` must be at least 1 or None. Received: keep={values.keep}")
    check_local(values.to)
    options = from_flags(ShrinkOptions, values.as_dict())
    from tf_charagram.export.serving.card import about_run
    from tf_charagram.export.serving.folder import ServingFolder
    from tf_charagram.export.serving.version import write_version
    from tf_charagram.models.registry import load_any

    folder = ServingFolder(values.to)
    model = load_any(values.model)
    if options != ShrinkOptions() and not model.can_shrink:
        raise ConfigError(
            "`dtype`, `max_ngrams`, `dim` and `max_mb` make embedders smaller. "
            f"{values.model} is of the kind '{model.kind}'."
        )
    texts = real_texts(values.texts, values.model, model.kind)
    about = about_run(values.model)
    if options != ShrinkOptions():
        model, options = _made_smaller(model, options, texts, folder.name, values.warmup)
        about["made_smaller"] = dataclasses.asdict(options)
    version = write_version(model, folder, about, texts, values.warmup)
    removed = folder.prune(values.keep) if values.keep else []
    size_mb = sum(file.stat().st_size for file in version.rglob("*") if file.is_file()) / 1e6
    console = Console(
        stderr=values.json, highlight=False, soft_wrap=True, markup=False, emoji=False
    )
    console.print(f"{version}  {size_mb:,.1f} MB")
    if options != ShrinkOptions():
        chosen = {name: value for name, value in dataclasses.asdict(options).items() if value}
        console.print(f"Made smaller: {', '.join(f'{n} {v}' for n, v in chosen.items())}")
    if removed:
        console.print(f"Deleted versions: {', '.join(map(str, removed))}")
    for line in _list_for_server(folder):
        console.print(line)
    console.print(f"Check it: charagram check {version}")
    console.print(f"Serve it: cd {folder.path.parent} && docker compose up")
    if values.json:
        result = {"version": str(version), "size_mb": round(size_mb, 3), "deleted": removed}
        sys.stdout.write(json.dumps(result) + "\n")
    return 0


def _list_for_server(folder: ServingFolder) -> list[str]:
    """Writes the server's configuration beside a model; returns what to say of it."""
    from tf_charagram.export.serving.config import lists_models, write_serving_files

    models = folder.path.parent
    # A version is served by `--model_base_path` without these.
    if not os.access(models, os.W_OK):
        return [
            f"{models} cannot be written to, so models.config stays as it is: add {folder.name} "
            "where it is missing."
        ]
    lines = [str(path) for path in write_serving_files(models)]
    if not lists_models(models):
        lines.append(f"models.config was not written by this command: add {folder.name} to it.")
    return lines


def _made_smaller(
    model: TextModel, options: ShrinkOptions, texts: Sequence[bytes], name: str, num_warmup: int
) -> tuple[TextModel, ShrinkOptions]:
    """Returns a smaller model, and the options that a size to keep to is translated into."""
    from tf_charagram.export.compression.budget import fitting_options
    from tf_charagram.export.compression.shrinking import shrink
    from tf_charagram.export.serving.golden import most_golden_bytes
    from tf_charagram.export.serving.warmup import warmup_bytes
    from tf_charagram.models.parts import Parts

    vectorizer, encoder, _ = model.parts
    if options.max_mb is not None:
        signatures = {
            signature: [spec.name for spec in function.input_signature]
            for signature, function in model.signatures().items()
        }
        extra_bytes = most_golden_bytes(texts, encoder.dim) + _OTHER_BYTES
        extra_bytes += warmup_bytes(name, signatures, texts, num_warmup)
        options = fitting_options(vectorizer, encoder, options.max_mb, extra_bytes)
    return model.from_parts(Parts(*shrink(vectorizer, encoder, options))), options


def real_texts(path: str | None, model: str, kind: str = "embedder") -> list[bytes]:
    """Returns up to a thousand texts of a file, spread over it, or of those a run was trained on.

    Args:
        path: A file, one text per line.
        model: Run folder, whose texts count where no file is given, if the model reads such texts.
        kind: Of the model; there are samples for each where there is nothing else.

    Raises:
        ConfigError: The file has no text, or there is no such kind.
    """
    from tf_charagram.data.readers.lines import read_lines
    from tf_charagram.export.serving.inputs import sample_texts
    from tf_charagram.models.registry import model_class
    from tf_charagram.text.batches import to_bytes
    from tf_charagram.training.run_folder import RunFolder

    file = Path(path) if path is not None else RunFolder(model).texts
    if path is None and not (model_class(kind).reads_run_texts and file.is_file()):
        return sample_texts(kind)
    texts = [text for _, text in read_lines(file) if text.strip()]
    if not texts:
        raise ConfigError(f"{file} has no text for warm-up requests.")
    return [to_bytes(text) for text in texts[:: -(-len(texts) // 1000)]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(export, arguments)
