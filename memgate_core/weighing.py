"""Steps 4 and 5 of a turn: what kind of evidence each candidate is, and where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memgate_core.extraction.open_key import open_key
from memgate_core.fields.plain_value import says_nothing
from memgate_core.fields.validators import refusal
from memgate_core.framed import (
    agreed,
    doubted,
    is_framed_as_plan,
    is_reworded,
    is_undecided,
    own_if_unsaid,
)
from memgate_core.judgement.protocol import (
    EvidenceClassifier,
    FieldMatcher,
    FieldReader,
    Foresight,
    OwnWords,
    StandingClaim,
    StandingJudge,
)
from memgate_core.judgement.value_evidence import for_value
from memgate_core.model import (
    USER_ENTITY,
    Candidate,
    EvidenceJudgement,
    EvidenceType,
    FieldKey,
    FieldMatch,
    FieldSpec,
    Kind,
    Role,
    Source,
    Span,
    StagedItem,
    Standing,
    StandingJudgement,
    Statement,
    Subject,
    Turn,
    sha256_of,
)
from memgate_core.screening.credential_fields import names_credential
from memgate_core.screening.screener import MASK, Screener, Screening, mask


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
    """Foreign words within the user's own message; other sources have rules of their own."""
    refusal: str | None
    """The validator's reason, when the value is malformed."""
    unspoken: bool = False
    """True when its words were refused: the candidate carries them masked."""
    said: str | None = None
    """What the user called the value, where the extractor's words are not in the message."""

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
    attributes: Collection[str]
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
    foresight: Foresight | None = None
    own_words: OwnWords | None = None

    def foresee(
        self,
        turn: Turn,
        candidates: Sequence[Candidate],
        screening: Screening,
        known: KnownValues,
        items: Sequence[StagedItem],
        offered: str | None,
    ) -> None:
        """Lets a model backend ask everything about the turn in one request, before the judges.

        `turn` has its refused words masked: no model sees a secret.
        """
        if self.foresight is None or screening.all_refused:
            return
        shown = [_shown(turn, candidate, screening) for candidate in candidates]
        self.foresight.consider(turn, shown, self.fields, known, items, offered)

    def weigh(
        self,
        turn: Turn,
        candidates: Sequence[Candidate],
        screening: Screening,
        known: KnownValues,
    ) -> list[Weighed]:
        """All candidates of a turn in one batch a judge. `turn` has its refused words masked.

        Raises:
            ModelFaultError: a judge failed as a whole (each backend's own fallback comes first).
        """
        if not candidates:
            return []
        shown = [_shown(turn, candidate, screening) for candidate in candidates]
        judgements = self.classifier.classify([statement_of(turn, c) for c in shown])
        matches = self._match(shown)
        standings = self.standing.stand(
            turn,
            [
                StandingClaim(
                    candidate=c,
                    field=m.field,
                    known=known[m.field.attribute] if m.field else None,
                    evidence=j,
                )
                for c, m, j in zip(shown, matches, judgements, strict=True)
            ],
        )
        said = self._said(turn, shown, matches, known)
        return [
            _weighed(turn, c, j, m, s, screening, w)
            for c, j, m, s, w in zip(candidates, judgements, matches, standings, said, strict=True)
        ]

    def read(self, turn: Turn, screening: Screening, known: KnownValues) -> list[Candidate]:
        """Registered fields read straight out of the words, where no extractor proposed any."""
        if self.reader is None or not self.fields or screening.all_refused:
            return []
        return self.reader.read(turn, self.fields, known)

    def _said(
        self,
        turn: Turn,
        candidates: Sequence[Candidate],
        matches: Sequence[FieldMatch],
        known: KnownValues,
    ) -> list[str | None]:
        """The user's own words for values that extractors reworded, where the two agree."""
        asked = {
            m.field.attribute: m.field
            for c, m in zip(candidates, matches, strict=True)
            if m.field is not None and is_reworded(c, turn)
        }
        if self.own_words is None or not asked:
            return [None] * len(candidates)
        said = self.own_words.said(turn, tuple(asked.values()), known)
        return [
            agreed(c.value or "", said.get(m.field.attribute), known[m.field.attribute])
            if m.field is not None and is_reworded(c, turn)
            else None
            for c, m in zip(candidates, matches, strict=True)
        ]

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
        role=Role.TOOL if turn.source in (Source.TOOL, Source.WEB) else turn.role,
        history=turn.history,
        start=candidate.evidence.start,
    )


def masked(turn: Turn, screening: Screening) -> Turn:
    """The turn as judges may see it: refused words masked, offsets unchanged."""
    if not screening.refused:
        return turn
    return turn.model_copy(update={"text": mask(turn.text, screening.refused)})


def _shown(turn: Turn, candidate: Candidate, screening: Screening) -> Candidate:
    """The candidate as judges may see it: one that holds a secret shows its masked words alone."""
    span = candidate.evidence.span
    if not (screening.refuses(span) or screening.refuses_value(candidate.value)):
        return candidate
    words = span.of(turn.text)
    return candidate.model_copy(
        update={"attribute": None, "value": None, "text": words, "words": words}
    )


def _unspoken(turn: Turn, candidate: Candidate, screening: Screening) -> Candidate:
    """A refused candidate as it may be recorded: no word, no value and no plain hash of it."""
    span = candidate.evidence.span
    words = span.of(turn.text) if screening.refuses(span) else MASK * (span.end - span.start)
    evidence = candidate.evidence.model_copy(update={"sha256": sha256_of(words)})
    gone = {"value": None, "text": words, "words": words, "evidence": evidence}
    return candidate.model_copy(update=gone)


def _in_clean_words(_turn: Turn, candidate: Candidate, screening: Screening) -> Candidate:
    """The candidate; in the user's own words where the extractor's text holds a secret."""
    if candidate.text == candidate.words or not screening.refuses_value(candidate.text):
        return candidate
    return candidate.model_copy(update={"text": candidate.words})


def key_of(
    subject: Subject, candidate: Candidate, match: FieldMatch, standing: StandingJudgement
) -> FieldKey:
    """The slot a candidate's value hangs on: a registered field, or an open key.

    Another person's fact keeps that person's entity and can never land on the user's key.
    """
    if match.field is not None and standing.standing is not Standing.OTHER_PERSON:
        return FieldKey(
            subject=subject,
            scope=candidate.scope,
            kind=match.field.kind,
            normalized_key=match.field.attribute,
        )
    entity = candidate.entity
    if entity == USER_ENTITY and standing.standing is Standing.OTHER_PERSON:
        entity = "somebody"
    return FieldKey(
        subject=subject,
        scope=candidate.scope,
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
    said: str | None = None,
) -> Weighed:
    span = candidate.evidence.span
    refused = (
        screening.refuses(span)
        or screening.refuses_value(candidate.value)
        or _for_a_credential(match.field)
    )
    ordered = (screening.reason_of(span) or "").startswith("taint.")
    kept = (_unspoken if refused else _in_clean_words)(turn, candidate, screening)
    judgement = for_value(judgement, standing)
    if match.field is not None and is_framed_as_plan(candidate):
        # what is still considered was not wrongly stored as something else
        judgement = doubted(judgement, "the extractor calls it a plan", corrections=True)
        standing = own_if_unsaid(standing, candidate.value or "")
        if said is None and says_nothing(candidate.value or ""):  # "undecided" is no value
            match = FieldMatch(field=None, via=match.via)
    elif match.field is not None and is_undecided(turn):
        judgement = doubted(judgement, "the message says that nothing is decided")
    return Weighed(
        candidate=kept,
        judgement=judgement,
        match=match,
        standing=standing,
        key=key_of(turn.subject, kept, match, standing),
        secret=refused and not ordered,
        tainted=ordered or (turn.source is Source.USER and screening.taints(span)),
        refusal=refusal(match.field, candidate.value),
        unspoken=refused,
        said=None if refused else said,
    )


def _for_a_credential(field: FieldSpec | None) -> bool:
    return field is not None and names_credential(field.attribute, field.description)
