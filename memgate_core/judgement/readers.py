"""Several field readers as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memgate_core.judgement.protocol import FieldReader
from memgate_core.model import Candidate, FieldSpec, Turn


class FirstOf:
    """Several readers as one: a field that an earlier one read is not asked of a later one."""

    def __init__(self, *readers: FieldReader) -> None:
        self._readers = readers
        self.name = "+".join(reader.name for reader in readers)

    def read(
        self, turn: Turn, fields: Sequence[FieldSpec], known: Mapping[str, str | None]
    ) -> list[Candidate]:
        """Candidates of all readers, the earlier ones' first."""
        found: list[Candidate] = []
        for reader in self._readers:
            found += reader.read(turn, _left(fields, found), known)
        return [c.model_copy(update={"ordinal": at}) for at, c in enumerate(found)]


def _left(fields: Sequence[FieldSpec], found: Sequence[Candidate]) -> Sequence[FieldSpec]:
    if not found:
        return fields
    taken = {candidate.attribute for candidate in found}
    return [field for field in fields if field.attribute not in taken]
