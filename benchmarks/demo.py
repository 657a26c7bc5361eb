"""`charagram demo`: milliseconds from a keystroke to the answer, at the server and in a browser.

    python benchmarks/demo.py --model english [--data PAIRS] [--max-texts 100000]

Words are typed a letter at a time, each letter once the answer to the last is there. `server` is
from request to answer over one connection, `work` what the server needs of it; `browser` from the
input event to the first frame after the list has changed, in headless Chromium if there is one;
`errors` is the same with two typing errors, when the text without them is searched for as well.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import common

from tf_charagram.search.texts import read_vocabulary

sys.path.append(str(Path(__file__).parents[1]))
from tests.demo.browser import Browser, find_browser, open_browser

WATCH = """
new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => {
    times.push(performance.now() - typedAt);
}))).observe($("neighbors"), { childList: true });
$("query").addEventListener("input", (event) => { typedAt = event.timeStamp; });
"""


@contextmanager
def serving(model: str, texts: Sequence[str], folder: Path) -> Iterator[str]:
    """Runs `charagram demo`; yields its address."""
    words = folder / "words.txt"
    words.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    command = [sys.executable, "-m", "tf_charagram.cli", "demo", model, "--texts", str(words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield re.search(r"http://\S+", process.stdout.readline())[0]
        finally:
            process.terminate()


def ask_server(url: str, words: Sequence[str]) -> dict[str, list[float]]:
    """Returns milliseconds per prefix of some words: until the answer, and the server's work."""
    connection = http.client.HTTPConnection(url.split("/")[2])
    times: dict[str, list[float]] = {"server": [], "work": []}
    for word in words:
        for end in range(1, len(word) + 1):
            body = json.dumps({"text": word[:end], "edits": 0, "seed": 0})
            start = time.perf_counter()
            connection.request("POST", "/api/neighbors", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            times["server"].append(1e3 * (time.perf_counter() - start))
            times["work"].append(float(response.headers["Server-Timing"].split("dur=")[1]))
    connection.close()
    return times


def type_in_browser(browser: Browser, url: str, words: Sequence[str], edits: int) -> list[float]:
    """Returns milliseconds per letter until the list has changed."""
    browser.open(url)
    browser.until("!document.querySelector('main').hidden")
    browser.run(f"var times = [], typedAt = 0; {WATCH} $('edits').value = {edits};")
    num_letters = 0
    for word in words:
        browser.run("$('query').value = ''; $('query').focus();")
        for letter in word:
            browser.type(letter)
            num_letters += 1
            browser.until(f"times.length >= {num_letters}")
    return browser.run("times")


def summary(times: list[float]) -> dict:
    """Returns the median and the 95th percentile of some times."""
    times = sorted(times)
    median, p95 = times[len(times) // 2], times[int(0.95 * len(times))]
    return {
        "p50": common.Sample([median], "ms"), "p95": common.Sample([p95], "ms"),
        "number": len(times),
    }  # fmt: skip


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, data=common.WORDS, rounds=None)
    parser.add_argument("--model", default="english")
    parser.add_argument("--max-texts", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=40, help="words typed in each way")
    arguments = parser.parse_args()
    own = read_vocabulary(None, arguments.model)
    others = common.texts_of(common.word_pairs(arguments.data))
    texts = list(dict.fromkeys([*own, *others]))[: arguments.max_texts]
    long_words = [text for text in texts if text.isalpha() and 5 <= len(text) <= 12]
    # Other words each time: the server keeps the last answers.
    words = random.Random(0).sample(long_words, 3 * arguments.words)
    groups = [words[start::3] for start in range(3)]
    result: dict = {"num_texts": len(texts)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serving(arguments.model, texts, folder) as url:
            for key, times in ask_server(url, groups[0]).items():
                result[key] = summary(times)
            if find_browser() is None:
                print("There is no Chromium; leaving it out")
            else:
                with open_browser(folder / "profile") as browser:
                    result["browser"] = summary(type_in_browser(browser, url, groups[1], 0))
                    result["errors"] = summary(type_in_browser(browser, url, groups[2], 2))
    common.finish("demo", result, arguments)


if __name__ == "__main__":
    main()
