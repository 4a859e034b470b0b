"""The rule matrix: one ordered table, first match wins, a pure function of the case.

The rows bring together the article's matrix (explicit / inferred / secret ...) and the paper's
routing by evidence type; docs/decisions/0002-rule-matrix.md gives the reasoning where they meet.
Confidence is not a column: it ranks, it never overrides a rule (article).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

from pydantic import field_validator

from memgate_core.errors import ConfigurationError
from memgate_core.model import (
    Decision,
    DecisionType,
    EvidenceType,
    Model,
    Sensitivity,
    Source,
    Standing,
)
from memgate_core.policy.case import Case, Relation

POLICY_VERSION = "1"
"""Recorded with every decision; raise it when a built-in row changes."""


class Rule(Model):
    """One row. `when` maps a column of `Case` to the values it accepts; absent means any."""

    name: str
    when: dict[str, frozenset[Any]]
    then: DecisionType
    reason: str
    closes: bool = False
    corrects: bool = False

    @field_validator("when", mode="before")
    @classmethod
    def _as_sets(cls, when: Mapping[str, object]) -> dict[str, frozenset[Any]]:
        for column in when:
            if column not in Case.model_fields:
                known = ", ".join(Case.model_fields)
                raise ValueError(f"no column {column!r}; columns are {known}")
        return {column: _as_set(accepted) for column, accepted in when.items()}

    def covers(self, case: Case) -> bool:
        """True when every tested column of the case is accepted."""
        return all(getattr(case, column) in accepted for column, accepted in self.when.items())

    def decision(self) -> Decision:
        """What this row decides."""
        return Decision(
            decision=self.then,
            rule=self.name,
            reason=self.reason,
            closes=self.closes,
            corrects=self.corrects,
        )


def _as_set(accepted: object) -> frozenset[Any]:
    if isinstance(accepted, (str, bool, Enum)) or not isinstance(accepted, Iterable):
        return frozenset({accepted})
    return frozenset(accepted)


_D = DecisionType
_UNASSERTED = {Standing.QUOTED, Standing.NON_LITERAL, Standing.RETRACTION}

HARD_RULES: tuple[Rule, ...] = (
    Rule(
        name="secret",
        when={"secret": True},
        then=_D.REJECT,
        reason="credentials and payment data are never kept",
    ),
    Rule(
        name="cross_tenant",
        when={"cross_tenant": True},
        then=_D.REJECT,
        reason="the evidence belongs to another tenant or subject",
    ),
    Rule(
        name="missing_evidence",
        when={"exact": False},
        then=_D.REJECT,
        reason="the message does not hold the words that the claim rests on",
    ),
    Rule(
        name="foreign_words",
        when={"source": {Source.TOOL, Source.WEB}},
        then=_D.REJECT,
        reason="words of a tool, file or page say nothing about the user",
    ),
    Rule(
        name="tainted",
        when={"tainted": True},
        then=_D.REJECT,
        reason="pasted or quoted foreign words do not become the user's facts",
    ),
)
"""These come first and cannot be overridden by a user's rows."""

RULES: tuple[Rule, ...] = (
    Rule(
        name="malformed_value",
        when={"valid": False, "registered": True},
        then=_D.REJECT,
        reason="the field does not take such a value",
    ),
    Rule(
        name="assistant_guess",
        when={"source": Source.ASSISTANT, "registered": True, "relation": {"none", "different"}},
        then=_D.NEEDS_CONFIRMATION,
        reason="the assistant said it; only the user can make it a fact",
    ),
    Rule(
        name="assistant_words",
        when={"source": Source.ASSISTANT},
        then=_D.IGNORE,
        reason="what the assistant says is not a fact about the user",
    ),
    Rule(
        name="other_person",
        when={"standing": Standing.OTHER_PERSON, "own_entity": True, "registered": True},
        then=_D.REJECT,
        reason="it is another person's, never the user's",
    ),
    Rule(
        name="not_asserted",
        when={"standing": _UNASSERTED},
        then=_D.IGNORE,
        reason="quoted, joked or taken back: the user does not assert it",
    ),
    Rule(
        name="temporary",
        when={"standing": Standing.TEMPORARY},
        then=_D.IGNORE,
        reason="it holds for this occasion only and replaces nothing lasting",
    ),
    Rule(
        name="speculation_known",
        when={"evidence": EvidenceType.SPECULATION, "relation": Relation.SAME, "registered": True},
        then=_D.REAFFIRM,
        reason="it speaks of the value that already holds",
    ),
    Rule(
        name="negated",
        when={"standing": {Standing.NEGATED, Standing.UNSUPPORTED}, "registered": True},
        then=_D.IGNORE,
        reason="the words do not say that the value holds",
    ),
    Rule(
        name="past_state",
        when={"standing": Standing.PAST, "registered": True},
        then=_D.IGNORE,
        reason="it was so once and is over",
    ),
    Rule(
        name="speculation",
        when={"evidence": EvidenceType.SPECULATION},
        then=_D.STAGE,
        reason="planned, possible or wished for, not yet true",
    ),
    Rule(
        name="nothing_lasting",
        when={"lasting": False, "registered": False},
        then=_D.IGNORE,
        reason="asks, thanks, greets or requests; nothing to keep",
    ),
    Rule(
        name="known",
        when={"relation": Relation.SAME},
        then=_D.REAFFIRM,
        reason="already known",
    ),
    Rule(
        name="unjudged",
        when={"unjudged": True},
        then=_D.STAGE,
        reason="the judging model failed; held, since nobody could tell a plan from a fact",
    ),
    Rule(
        name="late_arrival",
        when={"late": True, "relation": Relation.DIFFERENT},
        then=_D.CONFLICT,
        reason="spoken before the current value began; a person decides which holds",
    ),
    Rule(
        name="lost_race",
        when={"raced": True, "relation": Relation.DIFFERENT},
        then=_D.CONFIRM_REPLACE,
        reason="another write changed the value meanwhile; the user decides",
    ),
    Rule(
        name="sensitive_inference",
        when={"sensitivity": Sensitivity.HIGH, "inferred": True},
        then=_D.NEEDS_CONFIRMATION,
        reason="a sensitive matter needs the user's explicit words",
    ),
    Rule(
        name="inferred_replacement",
        when={"inferred": True, "relation": Relation.DIFFERENT},
        then=_D.CONFIRM_REPLACE,
        reason="inferred, and it would replace what is known",
    ),
    Rule(
        name="inferred_new",
        when={"inferred": True, "registered": True},
        then=_D.NEEDS_CONFIRMATION,
        reason="inferred, not said; the user may confirm it",
    ),
    Rule(
        name="doubtful",
        when={"doubtful": True, "registered": True, "evidence": {"completed_event", "other"}},
        then=_D.STAGE,
        reason="too likely to be a plan to change a known value",
    ),
    Rule(
        name="correction",
        when={"evidence": EvidenceType.CORRECTION, "relation": Relation.DIFFERENT},
        then=_D.COMMIT,
        reason="the user says that the old value was wrong all along",
        corrects=True,
    ),
    Rule(
        name="correction_of_nothing",
        when={"evidence": EvidenceType.CORRECTION, "registered": False},
        then=_D.IGNORE,
        reason="corrects nothing that is held",
    ),
    Rule(
        name="superseding",
        when={"relation": Relation.DIFFERENT},
        then=_D.COMMIT,
        reason="the user's own present words; the old value ends here",
        closes=True,
    ),
    Rule(
        name="new_fact",
        when={},
        then=_D.COMMIT,
        reason="the user's own words, exact evidence, nothing against it",
    ),
)
"""The built-in rows, in order."""


class Matrix:
    """The table in force: hard rows, then the user's, then the built-in ones."""

    def __init__(self, extra: Sequence[Rule] = ()) -> None:
        names = [rule.name for rule in (*HARD_RULES, *extra, *RULES)]
        if len(set(names)) != len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ConfigurationError(f"policy: rule names used twice: {', '.join(twice)}")
        self.rules: tuple[Rule, ...] = (*HARD_RULES, *extra, *RULES)
        self.version = POLICY_VERSION if not extra else f"{POLICY_VERSION}+{_digest(extra)}"

    def decide(self, case: Case) -> Decision:
        """The first covering row's decision. The last row covers everything."""
        return next(rule for rule in self.rules if rule.covers(case)).decision()


def _digest(rules: Sequence[Rule]) -> str:
    from memgate_core.model import sha256_of

    rows = [
        f"{r.name}|{sorted((c, sorted(map(str, a))) for c, a in r.when.items())}|{r.then}|"
        f"{r.closes}|{r.corrects}"
        for r in rules
    ]
    return sha256_of("\n".join(rows))[:8]
