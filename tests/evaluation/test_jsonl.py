"""Files are read one line at a time, and what is malformed is named by file, line and key."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.jsonl import read, writing
from evaluation.plans.format import Conversation
from evaluation.statements.format import StatementLine
from memgate_core.errors import InvalidInputError, InvalidRecordError

GOOD = '{"id": "a", "text": "I might go", "unknown": 7}'


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"id": "b"}', "text"),
        ('{"id": "b", "text": 7}', "text"),
        ('{"id": "b", "text": " "}', "text"),
        ('{"id": "b", "text": "a\\u0000b"}', "text"),
        ('{"id": "", "text": "x"}', "id"),
        ('{"id": "b", "text": "x", "history": [{"role": "user"}]}', "history.0.content"),
        ('{"id": "b", "text": "x", "role": "narrator"}', "role"),
        ('{"id": "b", "text": "x", "label": "maybe"}', "label"),
        ('{"id": "b", "text": "x\\ud800"}', "line"),
        ('{"id": "b", "text": "x"', "line"),
        ("[1, 2]", "line"),
        ("not json", "line"),
    ],
)
def test_a_malformed_line_is_named_and_what_came_before_was_read(
    tmp_path: Path, line: str, key: str
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(f"{GOOD}\n\n{line}\n{GOOD}\n", encoding="utf-8")
    lines = read(path, StatementLine)
    assert next(lines)[0] == 1
    with pytest.raises(InvalidRecordError) as refused:
        next(lines)
    assert (refused.value.line, refused.value.key) == (3, key)
    assert str(path) in str(refused.value)


def test_bytes_that_are_no_utf8_are_named(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"id": "a", "text": "caf\xe9"}\n')
    with pytest.raises(InvalidRecordError, match=r"in\.jsonl:1"):
        next(read(path, StatementLine))


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="No such file"):
        next(read(tmp_path / "none.jsonl", StatementLine))


def test_keys_that_the_form_does_not_name_are_passed_on(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "deep" / "out.jsonl"
    source.write_text(GOOD + "\n", encoding="utf-8")
    with writing(out) as write:
        for _, line in read(source, StatementLine):
            write(line)
    assert '"unknown":7' in out.read_text(encoding="utf-8")
    assert "history" not in out.read_text(encoding="utf-8")


def test_a_large_file_takes_constant_memory(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "big.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for _ in range(20_000):
            file.write(GOOD + "\n")
    tracemalloc.start()
    try:
        assert sum(1 for _ in read(path, StatementLine)) == 20_000
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_a_conversation_without_labels_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "plain.jsonl"
    path.write_text(
        '{"id": "c", "field": {"attribute": "home_city", "description": "d"}, "sessions":'
        ' [{"date": "2025-01-01T00:00:00Z", "turns": [{"role": "user", "content": "hi"}]}]}\n',
        encoding="utf-8",
    )
    (_, found), *_ = list(read(path, Conversation))
    assert found.outcome is None
    assert [step.index for step in found.steps()] == [0]


@pytest.mark.parametrize(
    ("part", "key"),
    [
        ('"date": "2025-01-01T00:00:00"', "sessions.0.date"),
        ('"date": "yesterday"', "sessions.0.date"),
    ],
)
def test_a_session_needs_a_date_with_a_zone(tmp_path: Path, part: str, key: str) -> None:
    path = tmp_path / "plain.jsonl"
    path.write_text(
        '{"id": "c", "field": {"attribute": "home_city", "description": "d"}, "sessions":'
        f' [{{{part}, "turns": [{{"role": "user", "content": "hi"}}]}}]}}\n',
        encoding="utf-8",
    )
    with pytest.raises(InvalidRecordError) as refused:
        list(read(path, Conversation))
    assert refused.value.key == key


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full to write to")
def test_a_full_disk_is_named(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(f"{GOOD}\n", encoding="utf-8")
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("memgate")),
            "classify",
            "--in",
            str(source),
            "--out",
            "/dev/full",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1] == "memgate: /dev/full: No space left on device"


_LIMITED = """
import resource, signal, sys
import subprocess
import sys
from pathlib import Path
from pydantic import BaseModel
from evaluation.jsonl import writing
from memgate_core.errors import OutputError

class Row(BaseModel):
    text: str = ""

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with writing(Path(sys.argv[1])) as write:
        for _ in range(100):
            write(Row(text="a" * 60))
except OutputError:
    sys.exit(0)
sys.exit("no fault was raised")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs the limits of Linux on a file's size")
def test_what_stands_in_a_file_ends_with_a_full_line(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    subprocess.run([sys.executable, "-c", _LIMITED, str(target)], check=True)
    text = target.read_text(encoding="utf-8")
    assert text.endswith('"}\n')
    assert 900 < len(text) <= 1000
