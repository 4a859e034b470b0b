"""One set of encoders for the whole process: every local judge asks the same graphs."""

from __future__ import annotations

from functools import cache

from memgate_core.judgement.encoder import Encoders


@cache
def shared_encoders() -> Encoders:
    """The encoders of the installed weights; nothing is loaded before the first question."""
    return Encoders()
