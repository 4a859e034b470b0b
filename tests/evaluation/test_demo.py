"""The demonstration reads a chat of anybody's, names what is malformed, and shows both memories."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from evaluation.demo.__main__ import main
from evaluation.demo.chat import OWN, Message, Question, chat
from memgate_core.errors import InvalidRecordError
from tests.support.needs import needs


def written(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path


def test_the_own_chat_has_every_fate_in_it() -> None:
    lines = list(chat(OWN))
    assert len({line.user for line in lines}) == 4
    assert sum(isinstance(line, Question) for line in lines) >= 6
    messages = [line for line in lines if isinstance(line, Message)]
    assert all(a.at <= b.at for a, b in pairwise(messages))
    for message in messages:
        for found in message.extracted or ():
            assert found.span in message.content


def test_a_chat_needs_no_names_and_no_dates(tmp_path: Path) -> None:
    first, second = chat(written(tmp_path, {"content": "I live in York."}, {"content": "Hm."}))
    assert isinstance(first, Message)
    assert isinstance(second, Message)
    assert (first.user, first.at) == ("you", datetime(2026, 1, 6, 9, tzinfo=UTC))
    assert (second.at - first.at).days == 1


@pytest.mark.parametrize(
    "line", [{"user": "a"}, {"content": "x", "ask": "y"}, {"content": "x", "at": "noon"}]
)
def test_a_malformed_line_is_named(tmp_path: Path, line: object) -> None:
    with pytest.raises(InvalidRecordError, match=r"chat\.jsonl:1"):
        list(chat(written(tmp_path, line)))


def test_a_file_that_cannot_be_read_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "none.jsonl"), "--no-graph"]) == 2
    assert "none.jsonl" in capsys.readouterr().err


def test_a_chat_of_ones_own_runs_through_both_memories(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    needs("mem0")
    path = written(tmp_path, {"content": "I live in York."}, {"content": "I might get a dog."})
    assert main([str(path), "--no-graph"]) == 0
    shown = capsys.readouterr().out
    assert "I might get a dog" in shown
    assert "2 memories alone" in shown
    assert "no key, no network" in shown
