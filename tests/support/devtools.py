"""Talks to a headless browser over its DevTools pipe: opens a page, asks it, takes its picture."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.browser import Browser

_ANSWER_S = 60.0
_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--remote-debugging-pipe", "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip
_LAUNCH = """
import fcntl, os, sys
# the browser reads from descriptor 3 and writes to 4; either may be in use here
heard, told = (fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3])
os.dup2(heard, 3)
os.dup2(told, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Page:
    """One tab. The browser resolves no host name, so nothing can come from outside."""

    def __init__(self, read_from: int, write_to: int) -> None:
        self._read_from, self._write_to, self._heard = read_from, write_to, b""
        self._numbers = itertools.count(1)
        self.requested: list[str] = []
        """Every address that the page asked for."""
        self.complaints: list[str] = []
        """Errors that the page logged or threw."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    _session: str | None = None

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command and its result."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write_to, json.dumps(message).encode() + b"\0")
        while (found := self._next()).get("id") != number:
            self._note(found)
        if "error" in found:
            raise AssertionError(f"{method}: {found['error']}")
        result: dict[str, Any] = found["result"]
        return result

    def open(self, path: Path) -> None:
        """Loads a file and waits until it is complete."""
        self.call("Page.navigate", url=path.as_uri())
        ends = time.monotonic() + _ANSWER_S
        while self.value("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < ends, "the page did not load"
            time.sleep(0.05)

    def value(self, expression: str) -> Any:
        """What an expression is worth in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def picture(self, path: Path) -> None:
        """The whole page as a PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._heard:
            ready, _, _ = select.select([self._read_from], [], [], _ANSWER_S)
            more = os.read(self._read_from, 1 << 16) if ready else b""
            assert more, "the browser does not answer"
            self._heard += more
        one, _, self._heard = self._heard.partition(b"\0")
        found: dict[str, Any] = json.loads(one)
        return found

    def _note(self, event: dict[str, Any]) -> None:
        method, found = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requested.append(found["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(found["exceptionDetails"]["text"]))
        elif method == "Log.entryAdded" and found["entry"]["level"] == "error":
            self.complaints.append(str(found["entry"]["text"]))


@contextmanager
def opened(browser: Browser, profile: Path) -> Iterator[Page]:
    """An empty page in a browser of its own, which ends with it."""
    hear, told = os.pipe()
    heard, tell = os.pipe()
    command = [browser.program, *_OPTIONS, f"--user-data-dir={profile}"]
    process = subprocess.Popen(
        [sys.executable, "-c", _LAUNCH, str(heard), str(told), *command],
        env={**os.environ, **browser.environment},
        pass_fds=(heard, told),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(heard)
    os.close(told)
    try:
        yield Page(hear, tell)
    finally:
        os.close(tell)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(hear)
