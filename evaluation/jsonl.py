"""JSONL files, one line at a time: however large a file is, one record of it is in memory.

Reading names file, line and key of what is malformed and stops there; what stands before that
line has been yielded already, so a command writes nothing from that line on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import IO, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from memgate_core.errors import InvalidInputError, InvalidRecordError, OutputError

STANDARD = Path("-")
"""As a path: standard input or output."""

M = TypeVar("M", bound=BaseModel)
Write = Callable[[BaseModel], None]


class Record(BaseModel):
    """A line of a documented form. Keys that the form does not name are kept, not read."""

    model_config = ConfigDict(extra="allow")


def read(
    path: Path, form: type[M], *, consumed: Callable[[int], None] | None = None
) -> Iterator[tuple[int, M]]:
    """Line numbers (from 1) and records; blank lines are skipped.

    `consumed` is told the bytes of each line as it is read, for a progress bar.

    Raises:
        InvalidInputError: no such file. InvalidRecordError: names file, line and key.
    """
    with _opened(path) as lines:
        for number, line in enumerate(lines, 1):
            if consumed is not None:
                consumed(len(line))
            if line.strip():
                yield number, _record(path, number, line, form)


def check_readable(path: Path) -> None:
    """Says that a file cannot be read before anything is opened for writing.

    Raises:
        InvalidInputError: no such file, or no right to read it.
    """
    with _opened(path):
        pass


def _record(path: Path, number: int, line: bytes, form: type[M]) -> M:
    try:
        return form.model_validate_json(line)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_context=False, include_input=False)[0]
        key = ".".join(str(part) for part in first["loc"]) or "line"
        raise InvalidRecordError(path, number, key, first["msg"]) from None


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path == STANDARD:
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as fault:
        raise InvalidInputError(f"{path}: {fault.strerror}") from fault
    with file:
        yield file


@contextmanager
def writing(path: Path) -> Iterator[Write]:
    """Gives a function that writes one record as one line, unset keys left out.

    What stands in the file ends with a full line, whatever happens.

    Raises:
        InvalidInputError: the file cannot be written. OutputError: it cannot be written to its end.
    """
    if path == STANDARD:
        yield lambda record: print(_line(record), flush=True)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("wb", buffering=0)
    except OSError as fault:
        raise InvalidInputError(f"{path}: {fault.strerror}") from fault
    with file:
        yield _Lines(path, file)


class _Lines:
    """Writes records as whole lines: one that the disk has no room for is taken back."""

    def __init__(self, path: Path, file: FileIO) -> None:
        self._path, self._file, self._end = path, file, 0

    def __call__(self, record: BaseModel) -> None:
        line = f"{_line(record)}\n".encode()
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as fault:
            with suppress(OSError):  # a pipe keeps what it got
                self._file.truncate(self._end)
            raise OutputError(f"{self._path}: {fault.strerror}") from fault
        self._end += len(line)


def _line(record: BaseModel) -> str:
    return record.model_dump_json(exclude_unset=True)
