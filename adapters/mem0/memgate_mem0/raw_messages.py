"""Mem0's last raw messages, which it feeds into its next extraction: held words are not in them.

Only forwarded words reach them through the gate. This looks after what was saved before a thing
was held: an assistant's line that names it, or a message from before the gate.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memgate_core.echoes import echoes
from memgate_core.forwarding import forwardable
from memgate_core.intake import identify
from memgate_core.model import Role, Span, Subject

if TYPE_CHECKING:
    from memgate_core.gate import MemoryGate
    from memgate_mem0.natives import Natives
    from memgate_mem0.reception import Reception


def scrub(natives: Natives, gate: MemoryGate, reception: Reception) -> int:
    """Takes held words out of the raw messages of a call's scope. Returns how many it changed."""
    held = [
        span.of(h.message.text or "")
        for h in reception.heard
        if h.receipt is not None and not h.receipt.shadow
        for span in h.receipt.withheld
    ]
    changed = 0
    for row_id, _key, role, content in natives.messages(reception.scope.session_key):
        kept = _without(content, held)
        if kept is not None and role == Role.ASSISTANT and _speaks_of_held(gate, reception, kept):
            kept = None
        if kept != content:
            natives.replace_message(row_id, kept)
            changed += 1
    return changed


def drop_repeated(natives: Natives, reception: Reception) -> None:
    """Takes out the messages at the end of the scope's list that a broken-off try of this very
    call saved."""
    said = [(h.message.role.value, h.forward) for h in reception.forwarded]
    rows = list(natives.messages(reception.scope.session_key))
    tail = rows[-len(said) :] if said else []
    if [(role, content) for _id, _key, role, content in tail] == said:
        for row_id, *_rest in tail:
            natives.replace_message(row_id, None)


def _without(content: str, held: list[str]) -> str | None:
    found = [
        Span(start=match.start(), end=match.end())
        for words in held
        if words.strip()
        for match in re.finditer(re.escape(words), content, re.IGNORECASE)
    ]
    return forwardable(content, found)


def _speaks_of_held(gate: MemoryGate, reception: Reception, text: str) -> bool:
    subject: Subject = reception.subject
    at = gate.ledger.turn(subject, reception.message_ids[0])
    if at is None:
        return False
    turn = identify(text, subject=subject, occurred_at=at.occurred_at, role=Role.ASSISTANT)
    return bool(echoes(turn, [Span(start=0, end=len(text))], gate.ledger))
