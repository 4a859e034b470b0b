"""What the hand-written text files share: numbered lines, headers, and the test part."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memgate_core.errors import InvalidRecordError

DATA = Path(__file__).parents[1] / "data"

_TEST_PERCENT = 15


@dataclass(frozen=True)
class Line:
    """One line of a file that has something on it."""

    path: Path
    number: int
    text: str

    def wrong(self, key: str, problem: str) -> InvalidRecordError:
        """The error to raise for this line."""
        return InvalidRecordError(self.path, self.number, key, problem)


def lines_of(path: Path) -> Iterator[Line]:
    """The lines of a file that are not blank.

    Raises:
        InvalidRecordError: the file is not UTF-8.
    """
    try:
        content = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as fault:
        raise InvalidRecordError(path, 0, "encoding", str(fault)) from fault
    for number, text in enumerate(content.splitlines(), 1):
        if text.strip():
            yield Line(path, number, text.strip())


def header_of(line: Line, least: int) -> list[str]:
    """The columns of a "# a | b | c" line.

    Raises:
        InvalidRecordError: fewer columns than `least`.
    """
    columns = [column.strip() for column in line.text.removeprefix("#").split("|")]
    if len(columns) < least or not columns[0]:
        raise line.wrong("header", f"needs {least} columns, has {len(columns)}")
    return columns


def for_test(unit: str) -> bool:
    """True for the part that is never trained on: drawn by the conversation's (block's) id."""
    return int(hashlib.sha256(unit.encode("utf-8")).hexdigest(), 16) % 100 < _TEST_PERCENT


def plan_files(pattern: str) -> list[Path]:
    """Source files of plan conversations."""
    return sorted((DATA / "plans").glob(pattern))


def digest_of(path: Path) -> str:
    """Hex SHA-256 of a data file, for the model card."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
