"""Judges that put their question to a model: all of it (`llm`, `decision`) or the doubtful part
(`cascade`). The local judges stand beside them: they decide what they are sure of in a cascade,
and say what the words look like when the model fails.

Only the user's own words are worth a call: nothing that an assistant, a tool or a page says can
become a fact by itself. A failed question never becomes a commit: its judgement carries the fault,
and the gate holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memgate_core.judgement.cascade import Sureness, by_name
from memgate_core.judgement.counsel import Counsel
from memgate_core.judgement.cues import evidence_cues, standing_cues
from memgate_core.judgement.inquiry import Inquiry, Missing, Passage, Row, RowFinding
from memgate_core.judgement.protocol import (
    EvidenceClassifier,
    FieldMatcher,
    StandingClaim,
    StandingJudge,
)
from memgate_core.judgement.sitting import sitting
from memgate_core.model import (
    Candidate,
    EvidenceJudgement,
    FieldMatch,
    FieldSpec,
    Role,
    StandingJudgement,
    Statement,
    Turn,
)


class AskedClassifier:
    """Evidence types from a model. Implements `EvidenceClassifier`; thread-safe."""

    def __init__(self, local: EvidenceClassifier, counsel: Counsel, sure: Sureness | None) -> None:
        self._local, self._counsel, self._sure = local, counsel, sure
        self.name = counsel.name if sure is None else f"cascade/1:{local.name}>{counsel.name}"

    def classify(self, statements: Sequence[Statement]) -> list[EvidenceJudgement]:
        """One judgement a statement, in order. A model's failure stands in `fault`."""
        with sitting() as account:
            before = account.calls
            rows = {n: bare_row(statements[n]) for n in self.doubtful(statements)}
            found = self._counsel.ask(Inquiry(rows=tuple(rows.values())))
            answers = {n: found.rows[row] for n, row in rows.items()}
            unmade = [n for n in range(len(statements)) if not _answered(answers.get(n))]
            local = dict(zip(unmade, self.local([statements[n] for n in unmade]), strict=True))
            judged = [
                self._judgement(statement, answers.get(n), local.get(n))
                for n, statement in enumerate(statements)
            ]
            return _billed(judged, account.calls - before)

    def local(self, statements: Sequence[Statement]) -> list[EvidenceJudgement]:
        """The local judgements, each made once a turn."""
        with sitting() as account:
            new = [s for s in dict.fromkeys(statements) if account.kept(s) is None]
            for statement, judgement in zip(new, self._local.classify(new), strict=True):
                account.keep(statement, judgement)
            kept = [account.kept(statement) for statement in statements]
        return [judgement for judgement in kept if isinstance(judgement, EvidenceJudgement)]

    def doubtful(self, statements: Sequence[Statement]) -> list[int]:
        """Places of the statements that the model is asked about."""
        asked = [n for n, statement in enumerate(statements) if statement.role is Role.USER]
        if self._sure is None:
            return asked
        judged = self.local([statements[n] for n in asked])
        return [n for n, j in zip(asked, judged, strict=True) if not self._sure.of_evidence(j)]

    def _judgement(
        self,
        statement: Statement,
        found: RowFinding | Missing | None,
        local: EvidenceJudgement | None,
    ) -> EvidenceJudgement:
        if isinstance(found, RowFinding):
            return _evidence(statement, found, self._counsel.name)
        assert local is not None
        return local if found is None else local.model_copy(update={"fault": found.reason})


class AskedMatcher:
    """Fields by name, else from a model. Implements `FieldMatcher`; thread-safe."""

    def __init__(self, local: FieldMatcher, counsel: Counsel, sure: Sureness | None) -> None:
        self._local, self._counsel, self._sure = local, counsel, sure
        self.name = f"{local.name}>{counsel.name}"

    def match(
        self, candidates: Sequence[Candidate], fields: Sequence[FieldSpec]
    ) -> list[FieldMatch]:
        """One match a candidate, in order; where the model fails, the local match."""
        with sitting() as account:
            matches = self.local(candidates, fields)
            doubtful = self.doubtful(matches)
            self._ask([candidates[n] for n in doubtful], fields)
            for n in doubtful:
                found = account.kept(("slot", candidates[n]))
                if isinstance(found, RowFinding):
                    matches[n] = _match(found, fields)
        return matches

    def local(
        self, candidates: Sequence[Candidate], fields: Sequence[FieldSpec]
    ) -> list[FieldMatch]:
        """The local matches."""
        return self._local.match(candidates, fields)

    def doubtful(self, matches: Sequence[FieldMatch]) -> list[int]:
        """Places of the candidates that the model is asked about: never what a name settles."""
        sure = self._sure
        return [
            n
            for n, match in enumerate(matches)
            if not by_name(match) and (sure is None or not sure.of_match(match))
        ]

    def _ask(self, candidates: Sequence[Candidate], fields: Sequence[FieldSpec]) -> None:
        with sitting() as account:
            new = [c for c in candidates if account.kept(("slot", c)) is None]
            if not new or not fields:
                return
            rows = [_row_alone(candidate) for candidate in new]
            unplaced = tuple(dict.fromkeys(rows))
            found = self._counsel.ask(
                Inquiry(rows=unplaced, unplaced=unplaced, fields=tuple(fields))
            )
            for candidate, row in zip(new, rows, strict=True):
                account.keep(("slot", candidate), found.rows[row])


class AskedStandingJudge:
    """Whose it is and whether it lasts, from a model. Implements `StandingJudge`; thread-safe."""

    def __init__(self, local: StandingJudge, counsel: Counsel, sure: Sureness | None) -> None:
        self._local, self._counsel, self._sure = local, counsel, sure
        self.name = counsel.name if sure is None else f"cascade/1:{local.name}>{counsel.name}"

    def stand(self, turn: Turn, claims: Sequence[StandingClaim]) -> list[StandingJudgement]:
        """One judgement a claim, in order. A model's failure stands in `fault`."""
        with sitting():
            rows = {n: claim_row(turn, claims[n].candidate) for n in self.doubtful(turn, claims)}
            asked = tuple(dict.fromkeys(rows.values()))
            found = self._counsel.ask(Inquiry(rows=asked, said_on=turn.occurred_at.date()))
            answers = {n: found.rows[row] for n, row in rows.items()}
            unmade = [n for n in range(len(claims)) if not _answered(answers.get(n))]
            local = dict(zip(unmade, self.local(turn, [claims[n] for n in unmade]), strict=True))
        return [
            _standing(turn, claim, answers.get(n), local.get(n)) for n, claim in enumerate(claims)
        ]

    def local(self, turn: Turn, claims: Sequence[StandingClaim]) -> list[StandingJudgement]:
        """The local judgements, each made once a turn."""
        with sitting() as account:
            keys = [_claim_key(claim) for claim in claims]
            new = {k: c for k, c in zip(keys, claims, strict=True) if account.kept(k) is None}
            made = self._local.stand(turn, list(new.values()))
            for key, judgement in zip(new, made, strict=True):
                account.keep(key, judgement)
            kept = [account.kept(key) for key in keys]
        return [judgement for judgement in kept if isinstance(judgement, StandingJudgement)]

    def doubtful(self, turn: Turn, claims: Sequence[StandingClaim]) -> list[int]:
        """Places of the claims that the model is asked about."""
        if turn.role is not Role.USER:
            return []
        if self._sure is None:
            return list(range(len(claims)))
        judged = self.local(turn, claims)
        return [n for n, j in enumerate(judged) if not self._sure.of_standing(j)]


def bare_row(statement: Statement) -> Row:
    """A statement as it is asked about."""
    passage = Passage(message=statement.message, role=statement.role, history=statement.history)
    return Row(passage=passage, words=statement.text, start=statement.start)


def claim_row(turn: Turn, candidate: Candidate) -> Row:
    """A candidate as it is asked about, in its turn."""
    return Row(
        passage=Passage(message=turn.text, role=turn.role, history=turn.history),
        words=candidate.evidence.span.of(turn.text),
        start=candidate.evidence.start,
        entity=candidate.entity,
        attribute=candidate.attribute,
        value=candidate.value,
    )


def _row_alone(candidate: Candidate) -> Row:
    """A candidate as it is asked about where its turn is not at hand."""
    return Row(
        passage=Passage(message=candidate.words),
        words=candidate.words,
        entity=candidate.entity,
        attribute=candidate.attribute,
        value=candidate.value,
    )


def _claim_key(claim: StandingClaim) -> tuple[object, ...]:
    attribute = claim.field.attribute if claim.field else None
    return ("standing", claim.candidate, attribute, claim.known, claim.evidence.evidence_type)


def _answered(found: RowFinding | Missing | None) -> bool:
    return isinstance(found, RowFinding)


def _evidence(statement: Statement, found: RowFinding, backend: str) -> EvidenceJudgement:
    kind = found.evidence_type
    quoted = (found.cue.of(statement.text),) if found.cue is not None else ()
    return EvidenceJudgement(
        evidence_type=kind,
        probabilities=found.probabilities,
        cues=quoted or evidence_cues(statement.text, kind),
        backend=backend,
    )


def _billed(judged: list[EvidenceJudgement], calls: int) -> list[EvidenceJudgement]:
    """The batch's calls, counted once: on its first judgement."""
    if judged and calls:
        judged[0] = judged[0].model_copy(update={"model_calls": calls})
    return judged


def _match(found: RowFinding, fields: Sequence[FieldSpec]) -> FieldMatch:
    by_attribute: Mapping[str | None, FieldSpec] = {f.attribute: f for f in fields}
    field = by_attribute.get(found.slot)
    return FieldMatch(
        field=field, confidence=found.confidence, via="none" if field is None else "model"
    )


def _standing(
    turn: Turn,
    claim: StandingClaim,
    found: RowFinding | Missing | None,
    local: StandingJudgement | None,
) -> StandingJudgement:
    if not isinstance(found, RowFinding):
        assert local is not None
        return local if found is None else local.model_copy(update={"fault": found.reason})
    differs = found.evidence_type is not claim.evidence.evidence_type
    return StandingJudgement(
        standing=found.standing,
        confidence=found.confidence,
        cues=standing_cues(turn.text, found.standing),
        evidence_type=found.evidence_type if differs else None,
    )
