"""The text of a message in a file: refused where the gate would refuse it, but by file and line."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from memgate_core.intake import MAX_CHARACTERS


def _sayable(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    if "\x00" in text:
        raise ValueError(f"has a NUL character at {text.index(chr(0))}")
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"has {len(text):,} characters, more than {MAX_CHARACTERS:,}")
    return text


Words = Annotated[str, AfterValidator(_sayable)]
"""What somebody said: not blank, no NUL, no longer than a message may be."""
