"""Whether a turn says the value that is held. What is named and told as done is far easier to be
sure of than what only its consequences show, so each has thresholds of its own."""

from __future__ import annotations

from memgate_core.fields.values import words_of


def names(text: str, value: str | None) -> bool:
    """True when all words of the value stand in the text, in any order and form.

    >>> names("we went from a yale lock to a Nuki!!", "Nuki"), names("it is fitted", "Nuki")
    (True, False)
    """
    words = set(words_of(value)) if value else set()
    return bool(words) and words <= set(words_of(text))
