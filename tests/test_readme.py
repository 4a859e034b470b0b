"""What the README shows is run as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("mem0")
README = Path(__file__).parents[1] / "README.md"


def test_the_first_snippet_says_what_it_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(README), "exec"), {})
    before, after = capsys.readouterr().out.strip().split("\n")[-2:]
    assert "I live in Leeds" in before
    assert "Seattle" not in before
    assert "lives in Seattle" in after
    assert "'valid_from': '2025-05-09" in after
    assert "Leeds" not in after


def test_the_first_screen_names_both_commands() -> None:
    first_screen = "\n".join(README.read_text(encoding="utf-8").splitlines()[:30])
    assert "make demo" in first_screen
    assert "make test" in first_screen
