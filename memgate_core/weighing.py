"""Steps 4 and 5 of a turn: what kind of evidence each candidate is, and where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memgate_core.extraction.open_key import open_key
from memgate_core.fields.validators import refusal
from memgate_core.judgement.protocol import (
    EvidenceClassifier,
    FieldMatcher,
    FieldReader,
    StandingClaim,
    StandingJudge,
)
from memgate_core.model import (
    USER_ENTITY,
    Candidate,
    EvidenceJudgement,
    EvidenceType,
    FieldKey,
    FieldMatch,
    FieldSpec,
    Kind,
    Span,
    Standing,
    StandingJudgement,
    Statement,
    Subject,
    Turn,
)
from memgate_core.screening.credential_fields import names_credential
from memgate_core.screening.screener import Screener, Screening


@dataclass(frozen=True)
class Weighed:
    """A candidate with its judgements, before any rule has spoken."""

    candidate: Candidate
    judgement: EvidenceJudgement
    match: FieldMatch
    standing: StandingJudgement
    key: FieldKey
    secret: bool
    tainted: bool
    refusal: str | None
    """The validator's reason, when the value is malformed."""

    @property
    def span(self) -> Span:
        """Where its words stand in the message."""
        return self.candidate.evidence.span

    @property
    def registered(self) -> bool:
        """True when it belongs to a registered field of the subject."""
        return self.match.field is not None

    @property
    def asserted(self) -> bool:
        """True when the words say that it holds of the subject now, and may be kept."""
        own = self.standing.standing is Standing.OWN
        planned = self.judgement.evidence_type is EvidenceType.SPECULATION
        return own and not planned and not self.secret and self.refusal is None


@dataclass(frozen=True)
class KnownValues(Mapping[str, str | None]):
    """Current values by attribute, looked up only when a judge asks for one."""

    look_up: Callable[[str], str | None]
    attributes: Sequence[str]
    _seen: dict[str, str | None] = field(default_factory=dict)

    def __getitem__(self, attribute: str) -> str | None:
        if attribute not in self._seen:
            self._seen[attribute] = self.look_up(attribute)
        return self._seen[attribute]

    def __iter__(self) -> Iterator[str]:
        return iter(self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)


@dataclass(frozen=True)
class Scales:
    """The judges that weigh candidates, and the fields they weigh them for."""

    classifier: EvidenceClassifier
    matcher: FieldMatcher
    reader: FieldReader | None
    standing: StandingJudge
    screener: Screener
    fields: Sequence[FieldSpec]

    def weigh(
        self,
        turn: Turn,
        candidates: Sequence[Candidate],
        screening: Screening,
        known: KnownValues,
    ) -> list[Weighed]:
        """All candidates of a turn in one batch a judge.

        Raises:
            ModelFaultError: a judge failed as a whole (each backend's own fallback comes first).
        """
        if not candidates:
            return []
        judgements = self.classifier.classify([statement_of(turn, c) for c in candidates])
        matches = self._match(candidates)
        standings = self.standing.stand(
            turn,
            [
                StandingClaim(
                    candidate=c,
                    field=m.field,
                    known=known[m.field.attribute] if m.field else None,
                    evidence=j,
                )
                for c, m, j in zip(candidates, matches, judgements, strict=True)
            ],
        )
        return [
            _weighed(turn, c, j, m, s, screening)
            for c, j, m, s in zip(candidates, judgements, matches, standings, strict=True)
        ]

    def read(self, turn: Turn, screening: Screening, known: KnownValues) -> list[Candidate]:
        """Registered fields read straight out of the words, where no extractor proposed any."""
        if self.reader is None or not self.fields or screening.all_refused:
            return []
        return self.reader.read(turn, self.fields, known)

    def _match(self, candidates: Sequence[Candidate]) -> list[FieldMatch]:
        nowhere = FieldMatch(field=None, via="none")
        asked = [c for c in candidates if c.attribute is not None]
        found = iter(self.matcher.match(asked, self.fields) if asked else [])
        return [next(found) if c.attribute is not None else nowhere for c in candidates]


def statement_of(turn: Turn, candidate: Candidate) -> Statement:
    """The candidate's source words in their place, as the classifier sees them."""
    return Statement(
        text=candidate.words,
        message=turn.text,
        role=turn.role,
        history=turn.history,
        start=candidate.evidence.start,
    )


def key_of(
    subject: Subject, candidate: Candidate, match: FieldMatch, standing: StandingJudgement
) -> FieldKey:
    """The slot a candidate's value hangs on: a registered field, or an open key.

    Another person's fact keeps that person's entity and can never land on the user's key.
    """
    if match.field is not None and standing.standing is not Standing.OTHER_PERSON:
        return FieldKey(
            subject=subject, kind=match.field.kind, normalized_key=match.field.attribute
        )
    entity = candidate.entity
    if entity == USER_ENTITY and standing.standing is Standing.OTHER_PERSON:
        entity = "somebody"
    return FieldKey(
        subject=subject,
        kind=Kind.TASK_FACT if entity != USER_ENTITY else Kind.PROFILE,
        normalized_key=open_key(candidate.words, entity=entity, attribute=candidate.attribute),
    )


def _weighed(
    turn: Turn,
    candidate: Candidate,
    judgement: EvidenceJudgement,
    match: FieldMatch,
    standing: StandingJudgement,
    screening: Screening,
) -> Weighed:
    span = candidate.evidence.span
    return Weighed(
        candidate=candidate,
        judgement=judgement,
        match=match,
        standing=standing,
        key=key_of(turn.subject, candidate, match, standing),
        secret=(
            screening.refuses(span)
            or screening.refuses_value(candidate.value)
            or _for_a_credential(match.field)
        ),
        tainted=screening.taints(span),
        refusal=refusal(match.field, candidate.value),
    )


def _for_a_credential(field: FieldSpec | None) -> bool:
    return field is not None and names_credential(field.attribute, field.description)
