"""Latency of single texts from many callers, whose requests run together in batches.

    python benchmarks/serving.py --saved-model models/words/1 [--peer-python PYTHON]

A caller sends a text of 1 to 50 words and waits for its vector before it sends the next one. A loop
takes what has arrived, after 0.5 ms at most and up to 1,024 texts, and two threads answer: the
rules of `batching.config`. Each contender is a process of its own; they are measured in turn.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from packages import PACKAGES

CALLERS = (1, 8, 64)
MAX_BATCH = 1024
WAIT_S = 0.0005
NUM_THREADS = 2
PEERS = {"fastText": "fasttext", "MiniLM": "sentence-transformers"}
Encode = Callable[[list[str]], Any]


class Batcher:
    """Answers single texts; texts that arrive at about the same time run together.

    Args:
        encode: Embeds a list of texts; called in `NUM_THREADS` threads.
    """

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._pool = ThreadPoolExecutor(NUM_THREADS)
        self._free = asyncio.Semaphore(NUM_THREADS)
        self._waiting: asyncio.Queue[tuple[str, asyncio.Future[Any]]] = asyncio.Queue()
        self._running: set[asyncio.Task[None]] = set()

    async def embed(self, text: str) -> Any:
        """Returns the vector of a text."""
        answer = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait((text, answer))
        return await answer

    async def run(self) -> None:
        """Forms batches until it is cancelled."""
        while True:
            batch = [await self._waiting.get()]
            await asyncio.sleep(WAIT_S)
            # While all threads work, more texts arrive.
            await self._free.acquire()
            while len(batch) < MAX_BATCH and not self._waiting.empty():
                batch.append(self._waiting.get_nowait())
            task = asyncio.create_task(self._answer(batch))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _answer(self, batch: list[tuple[str, asyncio.Future[Any]]]) -> None:
        texts = [text for text, _ in batch]
        loop = asyncio.get_running_loop()
        try:
            vectors = await loop.run_in_executor(self._pool, self._encode, texts)
        finally:
            self._free.release()
        for (_, answer), vector in zip(batch, vectors, strict=True):
            answer.set_result(vector)


async def load(encode: Encode, texts: list[str], callers: int, seconds: float) -> dict[str, float]:
    """Measures a number of callers; returns requests per second, and p50 and p99 in ms."""
    batcher = Batcher(encode)
    runner = asyncio.create_task(batcher.run())
    times: list[float] = []
    end = time.perf_counter() + seconds

    async def caller(first: int) -> None:
        position = first
        while time.perf_counter() < end:
            start = time.perf_counter()
            await batcher.embed(texts[position % len(texts)])
            times.append(time.perf_counter() - start)
            position += callers

    start = time.perf_counter()
    await asyncio.gather(*map(caller, range(callers)))
    rate = len(times) / (time.perf_counter() - start)
    runner.cancel()
    p50, p99 = np.percentile(times, [50, 99]) * 1e3
    return {"requests_per_second": round(rate), "p50_ms": round(p50, 2), "p99_ms": round(p99, 2)}


def texts_of_words(words: list[str], number: int = 5_000) -> list[str]:
    """Returns texts of 1 to 50 words."""
    rng = random.Random(0)
    return [" ".join(rng.choices(words, k=rng.randint(1, 50))) for _ in range(number)]


def child(package: str, model: str, words_path: str, seconds: str) -> None:
    """Measures one contender; prints a line of JSON."""
    words = Path(words_path).read_text(encoding="utf-8").split()
    texts = texts_of_words(words)
    package_encode = PACKAGES[package](model, "sentences")

    def encode(batch: list[str]) -> np.ndarray:
        # Some return an array, some one for each text or for each part of a batch.
        return np.vstack(package_encode(batch))

    # First calls prepare graphs and start threads.
    for size in (1, 8, 64, 64):
        encode(texts[:size])
    found = {}
    for callers in CALLERS:
        asyncio.run(load(encode, texts, callers, 1.0))
        found[callers] = asyncio.run(load(encode, texts, callers, float(seconds)))
    print(json.dumps(found))


def main() -> None:
    """Runs the benchmark."""
    # Not needed by children, whose interpreter may lack this package.
    import common
    import processes
    from embed import MINILM

    parser = common.make_parser(__doc__, data=common.WORDS, rounds=None, peers=True)
    parser.add_argument("--saved-model", required=True, help="folder of a version")
    parser.add_argument("--minilm", default=MINILM, help="name or folder")
    parser.add_argument("--seconds", type=float, default=5.0, help="time of each measurement")
    arguments = parser.parse_args()
    words = common.texts_of(common.word_pairs(arguments.data))
    versions, result = processes.peer_facts(arguments.peer_python, PEERS)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "words.txt"))
        Path(path).write_text("\n".join(words), encoding="utf-8")
        contenders = {
            "SavedModel": (sys.executable, "saved-model", arguments.saved_model),
            "fastText": (arguments.peer_python, "fasttext", path),
            "MiniLM": (arguments.peer_python, "sentence-transformers", arguments.minilm),
        }
        for name, (python, package, model) in contenders.items():
            if name in PEERS and PEERS[name] not in versions:
                continue
            command = [python, __file__, "--child", package, model, path, str(arguments.seconds)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            result[name] = json.loads(done.stdout.splitlines()[-1])
            print(f"{name}: {result[name]}", flush=True)
    common.finish("serving", result, arguments)


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()
