"""Headless Chromium, driven through its DevTools protocol over two pipes: no package is needed."""

from __future__ import annotations

import base64
import itertools
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
TIMEOUT_S = 60.0
#: Becomes Chromium, which reads commands from file 3 and writes to file 4.
START = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
os.dup2(pipes[0], 3)
os.dup2(pipes[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_browser() -> str | None:
    """Returns the path of a Chromium, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def open_browser(profile: Path) -> Iterator[Browser]:
    """Starts a browser with a profile of its own, and ends it.

    Args:
        profile: A folder to write to.
    """
    from_us, to_us = os.pipe(), os.pipe()
    flags = (  # Without a sandbox, for root has none.
        "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
        "--no-first-run", "--disable-extensions", "--disable-background-networking",
        "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
        f"--user-data-dir={profile}",
    )  # fmt: skip
    process = subprocess.Popen(
        [
            sys.executable, "-c", START, str(from_us[0]), str(to_us[1]),
            find_browser() or NAMES[0], *flags,
        ],
        pass_fds=(from_us[0], to_us[1]), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(from_us[0])
    os.close(to_us[1])
    browser = Browser(from_us[1], to_us[0])
    try:
        yield browser
    finally:
        browser.close()
        process.wait(TIMEOUT_S)


class Browser:
    """One tab.

    Args:
        commands: File descriptor that commands are written to.
        answers: File descriptor that answers are read from.

    Attributes:
        errors: What the console and uncaught errors said since the last `open`.
        requests: Addresses that were asked for since then.
    """

    def __init__(self, commands: int, answers: int) -> None:
        self._commands = os.fdopen(commands, "wb", buffering=0)
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self._numbers = itertools.count(1)
        self._reader = threading.Thread(target=self._read, args=(answers,), daemon=True)
        self._reader.start()
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._session: str | None = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends a command of the protocol; returns its result."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        while (answer := self._messages.get(timeout=TIMEOUT_S)).get("id") != number:
            self._note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, url: str) -> None:
        """Loads a page."""
        self.errors.clear()
        self.requests.clear()
        self.send("Page.navigate", url=url)
        while (message := self._messages.get(timeout=TIMEOUT_S)).get(
            "method"
        ) != "Page.loadEventFired":
            self._note(message)

    def run(self, script: str) -> Any:
        """Evaluates an expression on the page, awaits it if it is a promise; returns its value."""
        result = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def until(self, script: str) -> Any:
        """Waits until an expression is true on the page; returns its value."""
        return self.run(
            f"""new Promise((resolve, reject) => {{
                const end = performance.now() + {TIMEOUT_S * 500};
                (function look() {{
                    const value = {script};
                    if (value) resolve(value);
                    else if (performance.now() > end) reject(document.body.innerText);
                    else setTimeout(look, 5);
                }})();
            }})"""
        )

    def type(self, text: str) -> None:
        """Types into what has the focus, a letter at a time."""
        for letter in text:
            self.send("Input.dispatchKeyEvent", type="keyDown", text=letter, key=letter)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=letter)

    def press(self, key: str, code: int) -> None:
        """Presses a key that gives no text, such as Tab, by its name and number."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key,
                windowsVirtualKeyCode=code, **(text if kind == "keyDown" else {}),
            )  # fmt: skip

    def look(self, width: int, height: int, scheme: str = "light") -> None:
        """Sets the size of the screen in pixels and the colour scheme, light or dark."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=features)

    def picture(self, path: Path) -> None:
        """Writes the whole page as a PNG."""
        data = self.send("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        """Ends the browser."""
        self._session = None
        self.send("Browser.close")
        self._commands.close()
        self._reader.join(TIMEOUT_S)

    def _read(self, file: int) -> None:
        with os.fdopen(file, "rb") as stream:
            pending = b""
            while part := stream.read1(2**16):
                *messages, pending = (pending + part).split(b"\0")
                for message in messages:
                    self._messages.put(json.loads(message))

    def _note(self, message: dict[str, Any]) -> None:
        """Keeps what tests ask for of a message that is no answer."""
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
