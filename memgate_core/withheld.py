"""What people are shown of something revoked: ids, hashes, times and who, and no word of it.

The ledger keeps the words as evidence until the subject is erased; whoever needs them for an audit
asks for them by name (`--revoked-words`).
"""

from __future__ import annotations

from collections.abc import Iterable

from memgate_core.explanation import Explanation, Words
from memgate_core.ledger.protocol import ProposalRecord
from memgate_core.model import (
    Fact,
    FactStatus,
    FieldKey,
    NativeLink,
    StagedItem,
    StagedStatus,
)
from memgate_core.withdrawal import REVOKED

WITHHELD = "(revoked)"
"""What stands in place of the words."""

_NO_WORDS = {"value": None, "text": WITHHELD, "words": WITHHELD}


def facts(found: Iterable[Fact]) -> list[Fact]:
    """The facts, revoked ones without their words."""
    return [fact(one) for one in found]


def fact(found: Fact) -> Fact:
    """The fact; without its words when it was revoked."""
    if not is_gone(found):
        return found
    return found.model_copy(update={**_NO_WORDS, "key": _key(found.key, found.open)})


def items(found: Iterable[StagedItem]) -> list[StagedItem]:
    """The held items, revoked ones without their words."""
    return [item(one) for one in found]


def item(found: StagedItem) -> StagedItem:
    """The held item; without its words when it was revoked."""
    if not is_gone(found):
        return found
    conditions = {"promote_when": WITHHELD, "discard_when": WITHHELD}
    key = _key(found.key, found.attribute is None)
    return found.model_copy(update={**_NO_WORDS, **conditions, "key": key})


def explanation(found: Explanation) -> Explanation:
    """The explanation, without the words of what of it was revoked."""
    gone = is_gone(found.fact) or is_gone(found.staged) or _is_taken_back(found.proposal)
    return found.model_copy(
        update={
            "fact": found.fact and fact(found.fact),
            "staged": found.staged and item(found.staged),
            "proposal": found.proposal and _proposal(found.proposal, gone),
            "judged": None if gone else found.judged,
            "proposed_on": _words(found.proposed_on, gone),
            "settled_on": _words(found.settled_on, gone),
            "replaced": found.replaced and fact(found.replaced),
            "replaced_by": found.replaced_by and fact(found.replaced_by),
            "native": tuple(_link(link) for link in found.native) if gone else found.native,
        }
    )


def is_gone(found: Fact | StagedItem | None) -> bool:
    """True for what was revoked."""
    return found is not None and found.status in (FactStatus.REVOKED, StagedStatus.REVOKED)


def _key(key: FieldKey, is_open: bool) -> FieldKey:
    """The key; an open one is made of words."""
    return key.model_copy(update={"normalized_key": WITHHELD}) if is_open else key


def _is_taken_back(found: ProposalRecord | None) -> bool:
    return found is not None and found.status == REVOKED


def _proposal(found: ProposalRecord, gone: bool) -> ProposalRecord:
    if not gone:
        return found
    is_open = found.candidate.attribute != found.key.normalized_key
    candidate = found.candidate.model_copy(update=_NO_WORDS)
    return found.model_copy(update={"candidate": candidate, "key": _key(found.key, is_open)})


def _words(found: Words | None, gone: bool) -> Words | None:
    return found.model_copy(update={"words": WITHHELD}) if found and gone else found


def _link(found: NativeLink) -> NativeLink:
    return found.model_copy(update={"text": None})
