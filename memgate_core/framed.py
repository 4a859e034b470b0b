"""What an extractor itself calls a plan is never committed on its word.

"groomer_change_consideration = Tariq's van" says in its own name that nothing has changed. Whatever
the words it rests on look like to the judges ("so it's loyalty versus the sheep"), the candidate is
held: an extractor may not make anything true, but its doubt is believed.
"""

from __future__ import annotations

from memgate_core.fields.normalise import is_plan_framed
from memgate_core.fields.plain_value import leaves_open, planned_value, says_nothing
from memgate_core.fields.values import same_value, words_of
from memgate_core.model import (
    USER_ENTITY,
    Candidate,
    EvidenceJudgement,
    EvidenceType,
    Standing,
    StandingJudgement,
    Turn,
)

_OPEN_TO_DOUBT = (EvidenceType.OTHER, EvidenceType.COMPLETED_EVENT)
_LEAD = 0.6
"""Probability that a doubted candidate is given for being a plan."""


def is_framed_as_plan(candidate: Candidate) -> bool:
    """True when attribute or value say of themselves that nothing is settled."""
    if candidate.entity != USER_ENTITY or candidate.attribute is None:
        return False
    return is_plan_framed(candidate.attribute) or leaves_open(candidate.value or "")


def doubted(judgement: EvidenceJudgement) -> EvidenceJudgement:
    """The judgement of a candidate framed as a plan: speculation, unless it corrects."""
    if judgement.evidence_type not in _OPEN_TO_DOUBT:
        return judgement
    rest = sum(p for k, p in judgement.probabilities.items() if k is not EvidenceType.SPECULATION)
    share = (1.0 - _LEAD) / (rest or 1.0)
    probabilities = {
        kind: _LEAD if kind is EvidenceType.SPECULATION else p * share
        for kind, p in judgement.probabilities.items()
    }
    cues = ("the extractor calls it a plan", *judgement.cues)
    return judgement.model_copy(
        update={
            "evidence_type": EvidenceType.SPECULATION,
            "probabilities": probabilities,
            "cues": cues,
        }
    )


def own_if_unsaid(standing: StandingJudgement) -> StandingJudgement:
    """A plan need not be asserted to be held; another's, a joke or a quotation stays what it is."""
    if standing.standing is Standing.UNSUPPORTED:
        return standing.model_copy(update={"standing": Standing.OWN})
    return standing


def is_reworded(candidate: Candidate, turn: Turn) -> bool:
    """True when a value of the user's own field does not stand in the message as it is written."""
    value = candidate.value
    own = candidate.entity == USER_ENTITY and candidate.attribute is not None
    return own and bool(value) and (value or "").casefold() not in turn.text.casefold()


def agreed(value: str, said: str | None, known: str | None) -> str | None:
    """The user's own words for a reworded value, if they can be the same thing: they share a word
    with it, or it says nothing by itself. Never what holds already."""
    if said is None or same_value(said, known or ""):
        return None
    shared = set(words_of(said)) & set(words_of(planned_value(value, known)))
    return said if shared or says_nothing(value) else None
