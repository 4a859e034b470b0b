"""Realised text of a held item (first form)."""

from __future__ import annotations

from datetime import datetime, timedelta

from memgate_core.language.lexicon import Tag, inflect
from memgate_core.language.predicate import find_predicate
from memgate_core.language.tokens import tokenise
from memgate_core.model import Candidate, FieldSpec, Turn


class LocalRealiser:
    """Says what would be true."""

    def realise(self, candidate: Candidate, field: FieldSpec | None) -> str:
        if field is not None and candidate.value:
            return (field.phrase or "has {value}").format(value=candidate.value)
        tokens = tokenise(candidate.words)
        predicate = find_predicate(tokens)
        if predicate is None:
            return candidate.words.strip()
        rest = candidate.words[tokens[predicate.verb].end :]
        return (inflect(predicate.lemma, Tag.PAST) + rest).strip(" .!")

    def conditions(self, realised: str, candidate: Candidate) -> tuple[str, str]:
        return (
            f"the user reports that it has come about: {realised}",
            f"the user reports that it will not come about: {realised}",
        )

    def review_at(self, turn: Turn, candidate: Candidate) -> datetime | None:
        return None

    def event_time(self, turn: Turn, words: str) -> datetime:
        if "yesterday" in words:
            return (turn.occurred_at - timedelta(days=1)).replace(hour=0, minute=0, second=0)
        return turn.occurred_at
