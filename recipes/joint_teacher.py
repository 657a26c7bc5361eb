r"""Joins the vectors of several teachers; the cosines of the joint vectors are the mean of theirs.

    python recipes/joint_teacher.py data/joint.npy --dim 384 --like runs/form \
        --teacher data/lines.txt data/minilm.npy --teacher data/queries.txt data/e5.npy

The vectors of each teacher lose their mean, without which those of e5 all have cosines above 0.7,
and get unit length. Then they are concatenated, and projected onto their principal directions.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tf_charagram.cli._flags.flags import MODEL_HELP, Parser
from tf_charagram.cli.commands import run_command
from tf_charagram.errors import ConfigError
from tf_charagram.models._answers.vectors import unit_rows
from tf_charagram.tasks.distillation._teachers.lines import TeacherLines

Floats = NDArray[np.float32]

_CHUNK = 20_000
# Means, principal directions and rotation are those of the first lines, which are in random order.
_NUM_SAMPLED = 40_000


class JointTeacher:
    """The vectors of several teachers as one vector.

    Args:
        teachers: The lines and vectors of each teacher; the same number of lines for all.
        dim: Width of the joint vectors.

    Raises:
        ConfigError: The teachers have different numbers of lines, or `dim` is larger than their
            widths together.
    """

    def __init__(self, teachers: Sequence[TeacherLines], dim: int) -> None:
        if len({len(lines) for lines in teachers}) > 1:
            numbers = ", ".join(str(len(lines)) for lines in teachers)
            raise ConfigError(f"All teachers need the same lines. Received: {numbers} lines")
        width = sum(lines.dim for lines in teachers)
        if dim > width:
            raise ConfigError(f"`dim` must be at most {width}. Received: {dim}")
        self._teachers = teachers
        self.sample = np.arange(min(len(teachers[0]), _NUM_SAMPLED))
        self._means = [lines.vectors(self.sample).mean(axis=0) for lines in teachers]
        sampled = self._concatenated(self.sample)
        # `eigh` returns the directions with the smallest eigenvalues first.
        _, directions = np.linalg.eigh(sampled.T @ sampled)
        self._directions: Floats = directions[:, ::-1][:, :dim]

    def vectors(self, numbers: NDArray[np.int64]) -> Floats:
        """Returns the joint vectors of lines, float32 `(len(numbers), dim)`, of unit length."""
        return unit_rows(self._concatenated(numbers) @ self._directions)

    def rotate_to(self, vectors: Floats) -> None:
        """Rotates the joint vectors, so that those of the sample are as near as can be to others.

        A rotation changes no cosine, and a student that has such vectors already keeps them.

        Args:
            vectors: Vectors of the lines `sample`, float32 `(len(sample), dim)`.
        """
        products = self.vectors(self.sample).T @ unit_rows(vectors)
        left, _, right = np.linalg.svd(products)
        self._directions = self._directions @ (left @ right)

    def _concatenated(self, numbers: NDArray[np.int64]) -> Floats:
        centered = [
            unit_rows(lines.vectors(numbers) - mean)
            for lines, mean in zip(self._teachers, self._means, strict=True)
        ]
        return np.concatenate(centered, axis=1)


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="python recipes/joint_teacher.py", description=__doc__)
    parser.add_argument("out", help="file .npy to write, a row of float16 for each line")
    parser.add_argument(
        "--teacher", nargs=2, action="append", required=True, metavar=("LINES", "VECTORS"),
        help="its lines, with a prompt if it needs one, and its vectors as for `train --teacher`; "
        "repeatable",
    )  # fmt: skip
    parser.add_argument("--dim", type=int, default=384, help="width of the vectors [384]")
    parser.add_argument("--like", help=f"student to rotate the vectors to; {MODEL_HELP}")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Runs the script; returns its exit status."""
    values = make_parser().parse_args(arguments)
    teachers = [TeacherLines([lines], [vectors]) for lines, vectors in values.teacher]
    joint = JointTeacher(teachers, values.dim)
    if values.like is not None:
        joint.rotate_to(_vectors_of(values.like, teachers[0].texts[: len(joint.sample)]))
    num_lines = len(teachers[0])
    out = np.lib.format.open_memmap(values.out, "w+", np.float16, (num_lines, values.dim))
    for start in range(0, num_lines, _CHUNK):
        numbers = np.arange(start, min(start + _CHUNK, num_lines))
        out[numbers] = joint.vectors(numbers)
    out.flush()
    return 0


def _vectors_of(model: str, texts: Sequence[str]) -> Floats:
    from tf_charagram.models.embedder import TextEmbedder

    return TextEmbedder.load(model, correct_spelling=False).encode(texts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
