"""What an extractor itself calls a plan is never committed on its word.

"groomer_change_consideration = Tariq's van" says in its own name that nothing has changed. Whatever
the words it rests on look like to the judges ("so it's loyalty versus the sheep"), the candidate is
held: an extractor may not make anything true, but its doubt is believed.
"""

from __future__ import annotations

import re

from memgate_core.fields.normalise import is_plan_framed
from memgate_core.fields.plain_value import leaves_open, planned_value, says_nothing
from memgate_core.fields.values import same_value, words_of
from memgate_core.model import (
    USER_ENTITY,
    Candidate,
    EvidenceJudgement,
    EvidenceType,
    Role,
    Standing,
    StandingJudgement,
    Turn,
)

_UNDECIDED = re.compile(
    r"\b(?:(?:can['’]?t|cannot|can not|couldn['’]?t) (?:decide|settle|choose|land on)"
    r"|(?:haven['’]?t|can['’]?t|cannot) (?:decided|made? up my mind)|torn between|undecided"
    r"|on the fence|back and forth|fifty[- ]fifty|50 ?[:/-] ?50|(?:in|of) two minds"
    r"|hung parliament|see-?saw|(?:toss|flip)(?:ing|ped)? a coin|coin keeps"
    r"|split down the middle|no majority|half (?:of )?me says|half a mind|inclined to"
    r"|which way (?:this|it) goes|arguing wi(?:th|v)? m[ey]self|brain says"
    r"|(?:for|yes|stay)[,.]? (?:and )?(?:against|no|go)[,.]? (?:for|yes|stay)\b"
    r"|score \d ?[-–] ?\d|so it['’]?s .{1,30} (?:v|vs|versus)\b)",
    re.IGNORECASE,
)
"""What people say who weigh one thing against another."""
_OPEN_TO_DOUBT = (EvidenceType.OTHER, EvidenceType.COMPLETED_EVENT)
_LEAD = 0.6
"""Probability that a doubted candidate is given for being a plan."""


def is_framed_as_plan(candidate: Candidate) -> bool:
    """True when attribute or value say of themselves that nothing is settled."""
    if candidate.entity != USER_ENTITY or candidate.attribute is None:
        return False
    return is_plan_framed(candidate.attribute) or leaves_open(candidate.value or "")


def is_undecided(turn: Turn) -> bool:
    """True for a message that says of itself that nothing is decided: a new value in it is weighed,
    not reported, whichever of its sentences names it."""
    return turn.role is Role.USER and bool(_UNDECIDED.search(turn.text))


def doubted(
    judgement: EvidenceJudgement, why: str, *, corrections: bool = False
) -> EvidenceJudgement:
    """The judgement of a candidate that is only weighed: speculation, unless it corrects
    (`corrections`: even then). `why` is the first of its cues."""
    if judgement.evidence_type not in _OPEN_TO_DOUBT and not corrections:
        return judgement
    held = judgement.probabilities.get(EvidenceType.SPECULATION, 0.0)
    if held >= _LEAD:
        return judgement.model_copy(update={"cues": (why, *judgement.cues)})
    rest = sum(p for k, p in judgement.probabilities.items() if k is not EvidenceType.SPECULATION)
    share = (1.0 - _LEAD) / (rest or 1.0)
    probabilities = {
        kind: _LEAD if kind is EvidenceType.SPECULATION else p * share
        for kind, p in judgement.probabilities.items()
    }
    return judgement.model_copy(
        update={
            "evidence_type": EvidenceType.SPECULATION,
            "probabilities": probabilities,
            "cues": (why, *judgement.cues),
        }
    )


def own_if_unsaid(standing: StandingJudgement, value: str) -> StandingJudgement:
    """A plan need not be asserted to be held; what is another's or a quotation stays that. A value
    that leaves itself open ("undecided between A and B") denies nothing either."""
    unsaid = {Standing.UNSUPPORTED, Standing.NON_LITERAL}
    if standing.standing in unsaid or (
        standing.standing is Standing.NEGATED and leaves_open(value)
    ):
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
