"""Judges that follow a script, for tests whose subject is not the judging.

A `Line` says what a sentence is and what it does; sentences without a line are chatter. Everything
else of the gate (extraction, screening, rules, ledger, delivery) is the real thing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memgate_core import MemoryGate
from memgate_core.judgement.protocol import StandingClaim
from memgate_core.model import (
    Candidate,
    Evidence,
    EvidenceJudgement,
    EvidenceType,
    FieldMatch,
    FieldSpec,
    ResolutionJudgement,
    ResolutionType,
    Role,
    Span,
    StagedItem,
    Standing,
    StandingJudgement,
    Statement,
    Turn,
)

CITY = FieldSpec(
    attribute="home_city", description="the city where the user lives", phrase="lives in {value}"
)
JOB = FieldSpec(attribute="employer", description="who employs the user", phrase="works at {value}")
FIELDS = (CITY, JOB)


@dataclass(frozen=True)
class Line:
    """What one sentence is (`kind`), which value it gives a field, which held value it settles."""

    kind: EvidenceType = EvidenceType.OTHER
    attribute: str | None = None
    value: str | None = None
    confirms: str | None = None
    abandons: str | None = None
    standing: Standing = Standing.OWN


def plan(attribute: str, value: str) -> Line:
    """A speculation about a field."""
    return Line(EvidenceType.SPECULATION, attribute, value)


def state(attribute: str, value: str) -> Line:
    """A standing state."""
    return Line(EvidenceType.OTHER, attribute, value)


def event(attribute: str | None, value: str | None, *, confirms: str | None = None) -> Line:
    """A completed event, which may confirm a held value."""
    return Line(EvidenceType.COMPLETED_EVENT, attribute, value, confirms=confirms)


def correction(attribute: str, value: str) -> Line:
    """A correction of a field."""
    return Line(EvidenceType.CORRECTION, attribute, value)


SCRIPT: dict[str, Line] = {
    "I live in Leeds": state("home_city", "Leeds"),
    "I live in York": state("home_city", "York"),
    "I moved to York": event("home_city", "York"),
    "I moved to Leeds": event("home_city", "Leeds"),
    "I work at Acme": state("employer", "Acme"),
    "I might move to Seattle": plan("home_city", "Seattle"),
    "I might join Initech": plan("employer", "Initech"),
    "I have moved to Seattle": event("home_city", "Seattle", confirms="Seattle"),
    "I started at Initech": event("employer", "Initech", confirms="Initech"),
    "that move is off": Line(abandons="Seattle"),
    "it was Hull all along": correction("home_city", "Hull"),
}
"""Enough for one life with a move, a job and a mistake."""


class ScriptedJudges:
    """All five judges at once, from one script (sentence, without case and end mark -> line)."""

    name = "scripted/1"

    def __init__(self, script: Mapping[str, Line]) -> None:
        self._script = {_plain(sentence): line for sentence, line in script.items()}

    def classify(self, statements: Sequence[Statement]) -> list[EvidenceJudgement]:
        return [_judged(self._kind(statement.text)) for statement in statements]

    def match(
        self, candidates: Sequence[Candidate], fields: Sequence[FieldSpec]
    ) -> list[FieldMatch]:
        by_name = {field.attribute: field for field in fields}
        return [FieldMatch(field=by_name.get(str(c.attribute)), via="exact") for c in candidates]

    def stand(self, _turn: Turn, claims: Sequence[StandingClaim]) -> list[StandingJudgement]:
        return [
            StandingJudgement(standing=self._line(claim.candidate.words).standing)
            for claim in claims
        ]

    def read(
        self, turn: Turn, _fields: Sequence[FieldSpec], _known: Mapping[str, str | None]
    ) -> list[Candidate]:
        if turn.role is not Role.USER:
            return []
        found = [(*at, self._script[at[0]]) for at in self._places(turn.text)]
        return [
            Candidate(
                attribute=line.attribute,
                value=line.value,
                text=turn.text[span.start : span.end],
                words=turn.text[span.start : span.end],
                evidence=Evidence.of(turn, span),
                ordinal=ordinal,
                extractor=self.name,
            )
            for ordinal, (_sentence, span, line) in enumerate(found)
            if line.attribute is not None
        ]

    def check(
        self, turn: Turn, items: Sequence[StagedItem], offered: str | None = None
    ) -> list[ResolutionJudgement]:
        return [self._settled(turn, item) for item in items]

    def _settled(self, turn: Turn, item: StagedItem) -> ResolutionJudgement:
        for sentence, span in self._places(turn.text):
            line = self._script[sentence]
            for wanted, kind in (
                (line.confirms, ResolutionType.CONFIRM),
                (line.abandons, ResolutionType.ABANDON),
            ):
                if wanted is not None and wanted == item.value:
                    return _resolution(item, kind, span)
        return _resolution(item, ResolutionType.NOTHING, None)

    def _places(self, text: str) -> list[tuple[str, Span]]:
        low = text.lower()
        found = [(s, at) for s in self._script if (at := low.find(s)) >= 0]
        found.sort(key=lambda pair: pair[1])
        return [(s, Span(start=at, end=at + len(s))) for s, at in found]

    def _line(self, words: str) -> Line:
        return self._script.get(_plain(words), Line())

    def _kind(self, text: str) -> EvidenceType:
        exact = self._script.get(_plain(text))
        if exact is not None:
            return exact.kind
        inside = [self._script[sentence] for sentence, _span in self._places(text)]
        return inside[0].kind if inside else EvidenceType.OTHER


def scripted_gate(
    url: str = "sqlite://", script: Mapping[str, Line] | None = None, **options: Any
) -> MemoryGate:
    """A real gate whose judges follow a script."""
    judges = ScriptedJudges(SCRIPT if script is None else script)
    return MemoryGate.open(
        url,
        fields=options.pop("fields", FIELDS),
        classifier=judges,
        matcher=judges,
        checker=judges,
        standing=options.pop("standing", judges),
        reader=judges,
        **options,
    )


def _judged(kind: EvidenceType) -> EvidenceJudgement:
    rest = {other: 0.01 for other in EvidenceType if other is not kind}
    return EvidenceJudgement(
        evidence_type=kind, probabilities={**rest, kind: 0.97}, cues=("script",)
    )


def _resolution(item: StagedItem, kind: ResolutionType, span: Span | None) -> ResolutionJudgement:
    return ResolutionJudgement(
        staged_id=item.staged_id, resolution=kind, confidence=0.99, reason="the script", span=span
    )


def _plain(text: str) -> str:
    return text.strip().rstrip(".!?").lower()
