"""Step 6 of a turn: what it does to held items, before anything new is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memgate_core.fields.values import same_value
from memgate_core.judgement.protocol import ResolutionChecker
from memgate_core.ledger.protocol import Ledger
from memgate_core.ledger.terms import terms_of
from memgate_core.model import (
    ResolutionJudgement,
    ResolutionType,
    Role,
    Source,
    StagedItem,
    Turn,
)

MAX_ITEMS = 24
"""Items looked at in one turn. They come from an index, so a turn costs the same however many are
held (the paper: one model call per held item per turn)."""


@dataclass(frozen=True)
class Settlement:
    """A held item that this turn settles."""

    item: StagedItem
    judgement: ResolutionJudgement

    @property
    def confirms(self) -> bool:
        """True for a promotion, False for a discard."""
        return self.judgement.resolution is ResolutionType.CONFIRM


@dataclass(frozen=True)
class Settled:
    """What the checker said: the settlements, and what it cost."""

    settlements: tuple[Settlement, ...] = ()
    model_calls: int = 0
    faults: tuple[str, ...] = ()


def settle(turn: Turn, checker: ResolutionChecker, items: Sequence[StagedItem]) -> Settled:
    """Asks the checker about the held items that this turn could settle.

    Raises:
        ModelFaultError: never; a failing checker settles nothing and is reported in `faults`.
    """
    if not items:
        return Settled()
    judgements = checker.check(turn, items, offered_item(turn, items))
    by_id = {item.staged_id: item for item in items}
    return Settled(
        settlements=tuple(
            Settlement(item=by_id[j.staged_id], judgement=j)
            for j in judgements
            if j.resolution is not ResolutionType.NOTHING
        ),
        model_calls=sum(j.model_calls for j in judgements),
        faults=tuple(dict.fromkeys(j.fault for j in judgements if j.fault)),
    )


def settleable(turn: Turn, ledger: Ledger) -> Sequence[StagedItem]:
    """The held items that this turn could settle.

    Only the user's own words settle anything: never the assistant's, a tool's or a page's.
    """
    if turn.role is not Role.USER or turn.source is not Source.USER or turn.taint:
        return ()
    return touched_items(turn, ledger)


def beside_known(
    items: Sequence[StagedItem], known: Mapping[str, str | None]
) -> Sequence[StagedItem]:
    """The held items with what is true of their fields now, where a field is registered."""
    return [
        item.model_copy(update={"known": known[item.key.normalized_key]})
        if item.key.scope.everywhere and item.key.normalized_key in known
        else item
        for item in items
    ]


def touched_items(turn: Turn, ledger: Ledger) -> Sequence[StagedItem]:
    """Pending items that share words with the turn or the assistant's line before it."""
    asked = turn.history[-1].content if _assistant_spoke_last(turn) else ""
    terms = terms_of(f"{turn.text} {asked}")
    return ledger.touched(turn.subject, terms, session=turn.session, limit=MAX_ITEMS)


def offered_item(turn: Turn, items: Sequence[StagedItem]) -> str | None:
    """The one item that the assistant put to the user just before, if it was exactly one.

    Only then may a bare "yes" settle it (shared case: bare assent).
    """
    if not _assistant_spoke_last(turn) or "?" not in turn.history[-1].content:
        return None
    asked = turn.history[-1].content
    named = [item.staged_id for item in items if _names(asked, item)]
    return named[0] if len(named) == 1 else None


def _assistant_spoke_last(turn: Turn) -> bool:
    return bool(turn.history) and turn.history[-1].role is Role.ASSISTANT


def _names(text: str, item: StagedItem) -> bool:
    if item.value is not None:
        return same_value(item.value, text)
    wanted = terms_of(item.text)
    return bool(wanted) and len(wanted & terms_of(text)) >= max(1, (len(wanted) + 1) // 2)
