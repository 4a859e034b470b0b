"""What is no statement at all is never kept as an open fact."""

from __future__ import annotations

import pytest

from memgate_core.policy.lasting import is_lasting


@pytest.mark.parametrize(
    "words",
    ["Ha.", "yeah.", "(4)", "haha yeah", "Thank you sooo much!", "No worries!", "👍", "is it?"],
)
def test_what_says_nothing_lasts_not(words: str) -> None:
    assert not is_lasting(words)


@pytest.mark.parametrize(
    "words", ["Not vegan", "yes I did", "He left", "Same here", "Vegan", "hex"]
)
def test_short_statements_last(words: str) -> None:
    assert is_lasting(words)
