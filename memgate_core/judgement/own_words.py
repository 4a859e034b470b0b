"""A held value in the user's own words, where an extractor wrote it down in its own.

"Gold membership on 1 June" is an extractor's note; what may come true is "the cycling club's gold
membership", and that is what the user will say again when it has. The claim head points at it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memgate_core.judgement.claims import ClaimHead, Verdict
from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.reading import whole_words
from memgate_core.judgement.shared import shared_encoders
from memgate_core.model import FieldSpec, Turn

_STANDS = 0.5
"""Least probability that the turn says anything of the field's value at all."""
_EDGES = " \t\n.,;:!?\"'“”‘’()[]*_"


class LocalOwnWords:
    """Reads what a turn calls the value of a field. Thread-safe."""

    def __init__(self, encoders: Encoders | None = None) -> None:
        self._encoders = encoders or shared_encoders()
        self._head = ClaimHead(self._encoders)

    def said(
        self, turn: Turn, fields: Sequence[FieldSpec], known: Mapping[str, str | None]
    ) -> dict[str, str]:
        """By attribute, the words of the turn that name the value; fields it names none of are
        left out.

        Raises:
            ConfigurationError: the weights are not installed completely.
        """
        layout = self._encoders.layout
        rows = [
            layout.claim(f, known.get(f.attribute), None, turn.text, turn.role, turn.history)
            for f in fields
        ]
        found: dict[str, str] = {}
        for field, verdict in zip(fields, self._head.judge(rows, read=True), strict=True):
            words = _words(turn, verdict)
            if words:
                found[field.attribute] = words
        return found


def _words(turn: Turn, verdict: Verdict) -> str | None:
    if verdict.place is None or verdict.stands < _STANDS:
        return None
    number, start, end = verdict.place
    return whole_words(turn.text, start, end).strip(_EDGES) if number < 0 else None
