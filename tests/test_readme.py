"""What the README shows is run as it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.langchain.scripted_chat import says
from tests.support.docs import blocks
from tests.support.needs import needs

needs("mem0")
README = Path(__file__).parents[1] / "README.md"
JUDGED = json.dumps(
    {"statements": [{"n": 1, "type": "speculation", "confidence": 0.9, "standing": "own"}]}
)


def test_the_first_snippet_says_what_it_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = blocks(README)[0]
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(README), "exec"), {})
    before, after = capsys.readouterr().out.strip().split("\n")[-2:]
    assert "I live in Leeds" in before
    assert "Seattle" not in before
    assert "lives in Seattle" in after
    assert "'valid_from': '2025-05-09" in after
    assert "Leeds" not in after


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_other_snippet_says_what_it_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = [_lines_of(block, capsys) for block in blocks(README)[1:]]
    agent, store, transcript, judges = said
    (known,) = agent
    assert known.startswith("[] [StagedItem(")
    assert "Seattle" in known
    held, promoted = store
    assert held == "[]"
    assert "lives in Seattle" in promoted
    assert "'valid_from'" in promoted
    *history, counted = transcript
    assert "Leeds" in str(history)
    assert "Seattle" not in str(history)
    assert counted == "1 2"
    held_by = {line.split(" ", 1)[0]: line for line in judges}
    assert set(held_by) == {"llm", "decision", "cascade"}
    assert all("held, not yet a fact: " in line and line.endswith("()") for line in judges)
    calls = {name: line.split()[-3] for name, line in held_by.items()}
    assert calls["llm"] == calls["decision"] == "1"
    assert calls["cascade"] in ("0", "1")


def _lines_of(code: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What a block prints, run by itself. It stays about as short as it says."""
    assert len(code.splitlines()) <= 16
    names: dict[str, Any] = {"chat_model": says(JUDGED)}
    exec(compile(code, str(README), "exec"), names)
    names["gate"].close()
    return capsys.readouterr().out.strip().splitlines()


def test_the_first_screen_names_both_commands() -> None:
    first_screen = "\n".join(README.read_text(encoding="utf-8").splitlines()[:30])
    assert "make demo" in first_screen
    assert "make test" in first_screen
