"""Settings: files of them for a command, and `TF_CONFIG`."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.campaigns.fuzz.structured import changed_json
from tests.campaigns.fuzz.target import RESULT, Run, Target, check

_YAML = (
    b"# A recipe\ntask: words\ndata: [pairs.tsv, more.tsv]\ndim: 30\nepochs: 2.5\nmargin: 0.4\n"
    b"ngrams: 2,3,4\nencoder: charagram\nactivation: tanh\nl2: 1.0e-06\nquiet: true\n"
)
_JSON = b'{"task": "words", "data": ["pairs.tsv"], "dim": 30, "seed": 3, "quiet": false}'
_LAUGHS = b"a: &a [x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (name, name, b", ".join([b"*%c" % (name - 1)] * 8))
    for name in range(ord("b"), ord("k"))
) + b"data: *j\n"  # fmt: skip
_TOKENS = (b": ", b"- ", b"\n", b"  ", b"&a ", b"*a", b"!!python/object/apply:os.system [x]",
           b"!!binary ", b"? ", b"|\n", b"<<: ", b"---\n", b"[", b"]", b"{", b"}", b"'", b'"',
           b"null", b"~", b".nan", b".inf", b"1e400", b"dim", b"task", b"encoder")  # fmt: skip
_CLUSTER = json.dumps(
    {"cluster": {"chief": ["a:1"], "worker": ["b:2", "c:3"]},
     "task": {"type": "worker", "index": 1}, "num_local": 2}
).encode()  # fmt: skip


@contextmanager
def _flags(folder: Path) -> Iterator[Run]:
    """Parses `charagram train --config FILE`, which ends as a command does."""
    from tf_charagram.cli.run_flags import parse_run
    from tf_charagram.cli.train import make_parser

    def run(case: bytes) -> str:
        path = folder / "recipe.yaml"
        path.write_bytes(case)
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
                parse_run(["--config", str(path)], make_parser)
        except SystemExit as end:
            check(end.code in (0, 2), f"exit status {end.code}")
            check(end.code == 0 or "error: " in said.getvalue(), f"it says {said.getvalue()!r}")
            check("Traceback" not in said.getvalue(), "a traceback")
            check(len(said.getvalue()) < 1 << 20, "a message of more than a megabyte")
            return f"exit {end.code}"
        return RESULT

    yield run


@contextmanager
def _cluster(folder: Path) -> Iterator[Run]:
    from tf_charagram.training.workers.cluster import cluster_of

    def run(case: bytes) -> str:
        cluster = cluster_of({"TF_CONFIG": case.decode("utf-8", "surrogateescape")})
        check(cluster is None or 0 <= cluster.rank < cluster.size, f"no rank: {cluster}")
        return RESULT

    yield run


TARGETS = [
    Target("settings.file", _flags, [_YAML, _JSON, _YAML + b"seed: 3\n"], _TOKENS),
    Target("settings.aliases", _flags, [_YAML], make=lambda random, seeds: _LAUGHS, least_cases=1,
           share=1e-9),
    Target("settings.json", _flags, [_JSON], make=changed_json),
    Target("settings.tf-config", _cluster, [_CLUSTER], in_message="TF_CONFIG", make=changed_json),
]  # fmt: skip
