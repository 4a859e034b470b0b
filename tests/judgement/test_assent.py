"""Bare answers, and what is more than one."""

from __future__ import annotations

import pytest

from memgate_core.resolution.assent import Answer, answer_of


@pytest.mark.parametrize(
    "text", ["yes", "Yep!", "ok", "OK.", "yeah sure, thanks", "sí", "it did", "👍 yes"]
)
def test_yes(text: str) -> None:
    assert answer_of(text) is Answer.YES


@pytest.mark.parametrize("text", ["no", "Nope.", "nah mate", "not really", "no, it didn't"])
def test_no(text: str) -> None:
    assert answer_of(text) is Answer.NO


@pytest.mark.parametrize(
    "text",
    ["yes, I walked it on Sunday", "thanks", "", "no way he did that", "okay so what's next"],
)
def test_more_or_less_than_an_answer(text: str) -> None:
    assert answer_of(text) is None
