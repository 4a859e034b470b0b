"""What a report was measured on and with, so that it can be repeated."""

from __future__ import annotations

import hashlib
import platform
import re
from importlib import metadata
from pathlib import Path

from pydantic import BaseModel

from evaluation.jsonl import STANDARD
from memgate_core import __version__

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Provenance(BaseModel):
    """Part of a report."""

    version: str
    """AgentMemGate's."""
    libraries: dict[str, str]
    """Versions of the installed libraries that AgentMemGate builds on, frameworks included."""
    data: str
    data_sha256: str | None
    """None where the data came through standard input."""
    machine: str


def provenance(path: Path) -> Provenance:
    """Of a measurement on this file, here and now."""
    return Provenance(
        version=__version__,
        libraries=libraries(),
        data=path.name,
        data_sha256=None if path == STANDARD else _hash(path),
        machine=f"{platform.machine()}, Python {platform.python_version()}",
    )


def libraries(distribution: str = "agentmemgate") -> dict[str, str]:
    """Name and version of what a distribution requires, extras included, as far as installed."""
    found = {}
    for name in sorted(_required(distribution)):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _required(distribution: str) -> set[str]:
    try:
        listed = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return set()
    return {found.group() for line in listed if (found := _NAME.match(line))}


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
