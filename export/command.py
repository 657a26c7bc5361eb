"""`charagram export`: writes a numbered version of a model for TensorFlow Serving."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tf_charagram._common.lazy import load_tensorflow
from tf_charagram._files.writing import check_local
from tf_charagram.cli._flags.flags import MODEL_HELP
from tf_charagram.cli._flags.settings_parser import SettingsParser, add_flags, settings_flags
from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.export._compression.options import ShrinkOptions
from tf_charagram.settings import types_of

if TYPE_CHECKING:
    from tf_charagram.export._serving.version import ServingFolder
    from tf_charagram.models.base import TextModel

# Size of the README.md, the model card and the like.
_OTHER_BYTES = 50_000


def _make_parser() -> SettingsParser:
    """Returns the parser."""
    parser = SettingsParser(prog="charagram export", description=__doc__)
    parser.add_argument("model", metavar="RUN", help=MODEL_HELP)
    parser.add_argument("--output", required=True, help="folder of the model: models/NAME")
    parser.add_argument(
        "--texts",
        type=str,
        help="file of texts for warm-up requests and golden answers, one per line "
        "[texts an embedder was trained on, or the starter set]",
    )
    parser.add_argument("--keep", type=int, help="delete all but the last versions [none]")
    parser.add_argument(
        "--triton",
        action="store_true",
        help="write a model repository of NVIDIA Triton, which runs the model without TensorFlow",
    )
    add_flags(parser, settings_flags(ShrinkOptions))
    return parser


def export(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = _make_parser().parse_args(arguments)
    # Wrong flags fail before TensorFlow is loaded, which takes seconds.
    if values.keep is not None:
        check_positive(keep=values.keep)
    check_local(values.output)
    options = ShrinkOptions(**{name: values[name] for name in types_of(ShrinkOptions)})
    if values.triton:
        return _export_for_triton(values, options)
    load_tensorflow()
    from tf_charagram.export._serving.card import about_run
    from tf_charagram.export._serving.version import ServingFolder, folder_bytes
    from tf_charagram.models._storage.locations import load_any

    folder = ServingFolder(values.output)
    model = load_any(values.model)
    texts = _real_texts(values.texts, values.model, model)
    about = about_run(values.model)
    changes = []
    if options != ShrinkOptions():
        model, options = _made_smaller(model, options, texts, folder)
    # A model can fit into --max-mb as it is.
    if options != ShrinkOptions():
        smaller = dataclasses.asdict(options)
        about["made_smaller"] = smaller
        chosen = ", ".join(f"{name} {value}" for name, value in smaller.items() if value)
        changes.append(f"Made smaller: {chosen}")
    version = folder.write(model, about, texts)
    size_mb = folder_bytes(version) / 1e6
    removed = [] if values.keep is None else folder.prune(values.keep)
    if removed:
        changes.append(f"Deleted versions: {', '.join(map(str, removed))}")
    lines = [
        f"{version}  {size_mb:,.1f} MB",
        *changes,
        *map(str, folder.write_server_files()),
        f"Check it: charagram check {version}",
        f"Serve it: cd {folder.path.parent} && docker compose up",
    ]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


def _export_for_triton(values: Any, options: ShrinkOptions) -> int:
    """Writes a version for Triton; returns the exit status."""
    if options != ShrinkOptions(dtype=options.dtype) or values.keep or values.texts:
        raise ConfigError(
            "`triton` can be combined only with `dtype`. Leave out `max_ngrams`, `dim`, `max_mb`, "
            "`keep` and `texts`."
        )
    load_tensorflow()
    from tf_charagram.export._serving.triton import write_triton
    from tf_charagram.models._storage.locations import load_any

    version = write_triton(load_any(values.model), values.output, options.dtype)
    repository = version.parent.parent
    sys.stdout.write(f"{version}\nServe it: tritonserver --model-repository={repository}\n")
    return 0


def _made_smaller(
    model: TextModel, options: ShrinkOptions, texts: Sequence[bytes], folder: ServingFolder
) -> tuple[TextModel, ShrinkOptions]:
    """Returns a smaller model, and the options that `max_mb` chose."""
    from tf_charagram.export._compression.shrinking import fitting_options, shrink

    if not model.gives_vectors:
        raise ConfigError(
            "`dtype`, `max_ngrams`, `dim` and `max_mb` make embedders smaller. "
            f"This model is of the kind '{model.kind}'."
        )
    vectorizer, encoder = model.parts
    if options.max_mb is not None:
        extra_bytes = folder.assets_bytes(model, texts) + _OTHER_BYTES
        options = fitting_options(vectorizer, encoder, options.max_mb, extra_bytes)
    vectorizer, encoder = shrink(vectorizer, encoder, options)
    return model.from_parts(vectorizer, encoder), options


def _real_texts(path: str | None, run: str, model: TextModel) -> list[bytes]:
    """Returns the first texts of a file, of a training set or of the starter set.

    Args:
        path: A file, one text per line; `None` for the texts of the run, or a sample.
        run: Run folder, whose texts are used if the model is an embedder.
        model: The model.

    Returns:
        As many texts as an export uses: 50 or fewer.

    Raises:
        ConfigError: The file has no text.
    """
    from tf_charagram.data._tables.lines import read_lines
    from tf_charagram.export._serving.requests import NUM_GOLDEN, sample_texts
    from tf_charagram.training._loop.run_folder import RunFolder

    file = Path(path) if path is not None else RunFolder(run).texts
    has_own_texts = model.gives_vectors and file.is_file()
    if path is None and not has_own_texts:
        return sample_texts(type(model), NUM_GOLDEN)
    texts = (text.encode() for _, text in read_lines(file) if text.strip())
    # Training sets have many thousand texts: reading stops after the first.
    first = list(islice(texts, NUM_GOLDEN))
    if not first:
        raise ConfigError(f"{file} has no text.")
    return first
