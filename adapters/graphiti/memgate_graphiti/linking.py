"""Judges what Graphiti extracted, and notes which edges and episodes carry which facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from graphiti_core.edges import EntityEdge

from memgate_core.extracted import Extracted
from memgate_core.fields.values import same_value
from memgate_core.gate import MemoryGate
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Fact, FactStatus, NativeLink, Receipt, Subject
from memgate_graphiti.calls import ActiveCall
from memgate_graphiti.payloads import native_id, parts_of, plain
from memgate_graphiti.reception import Reception

Owned = tuple[Subject, NativeLink]

_HELD = "rests on held words"
"""How the core's verdict on an extracted text begins that names something held."""


def judge(gate: MemoryGate, call: ActiveCall, edges: Sequence[dict[str, Any]]) -> list[bool]:
    """Which extracted edges may be stored; notes the verdicts in the call. Blocking."""
    return [_allowed(gate, call, edge) for edge in edges]


def judge_summaries(
    gate: MemoryGate, call: ActiveCall, summaries: Sequence[dict[str, Any]]
) -> list[bool]:
    """Which summaries of entities may be stored: those that name nothing held. Blocking.

    A summary also tells of earlier episodes, so it need not rest on the words of this call.
    """
    return [not tells_held(gate, call, str(entry.get("summary") or "")) for entry in summaries]


def judge_text(
    gate: MemoryGate, call: ActiveCall, text: str, names: Sequence[str]
) -> tuple[Subject, Extracted] | None:
    """The verdict on one fact: allowed if it rests on the words of anybody it may rest on.

    `names` are its two ends: where one of them speaks, the fact must rest on that person's words.
    """
    refused: tuple[Subject, Extracted] | None = None
    for source in call.asked(names):
        (verdict,) = gate.judge_extracted(source.subject, source.message_ids, [text])
        if verdict.allowed:
            return source.subject, verdict
        refused = refused or (source.subject, verdict)
    return refused


def _allowed(gate: MemoryGate, call: ActiveCall, edge: dict[str, Any]) -> bool:
    text = str(edge.get("fact") or "")
    if not text.strip():
        return True  # Graphiti drops it by itself
    names = [str(edge.get(end) or "") for end in ("source_entity_name", "target_entity_name")]
    found = judge_text(gate, call, text, names)
    if found is None:
        return False
    call.verdicts[plain(text)] = found
    return found[1].allowed


def tells_held(gate: MemoryGate, call: ActiveCall, text: str) -> bool:
    """True when a text names something held that the words which went on do not. Blocking."""
    return bool(text.strip()) and any(
        verdict.reason.startswith(_HELD)
        for source in call.sources
        for verdict in gate.judge_extracted(source.subject, source.message_ids, [text])
    )


def owed(
    ledger: Ledger, reception: Reception, call: ActiveCall, links: Sequence[Owned]
) -> list[tuple[Subject, Fact]]:
    """Facts of this call that an edge said which was not stored, since it could not be traced to
    its words or reads as a plan by itself: the gate knows better and writes them. Blocking."""
    edges = [link for _, link in links if parts_of(link.native_id)[1] == "edge"]
    carried = {fact_id for link in edges for fact_id in link.fact_ids}
    refused = [verdict.text for _, verdict in call.verdicts.values() if not verdict.allowed]
    found = []
    for receipt in reception.receipts if refused else ():
        for fact_id in facts_forwarded(receipt):
            fact = ledger.fact(fact_id) if fact_id not in carried else None
            if fact is not None and _is_said(fact, refused):
                found.append((receipt.subject, fact))
    return found


def _is_said(fact: Fact, texts: Sequence[str]) -> bool:
    """True where one of the texts is the fact as the ledger has it, or names a field's value."""
    if fact.status is not FactStatus.CURRENT:
        return False
    own = {plain(fact.text), plain(fact.words)}
    value = fact.value if fact.attribute is not None else None
    return any(plain(text) in own or (value and same_value(value, text)) for text in texts)


def edge_links(
    ledger: Ledger, name: str, reception: Reception, call: ActiveCall, edges: Iterable[EntityEdge]
) -> list[Owned]:
    """A link for each edge that a call's extraction led to.

    Graphiti may take an extracted fact for an edge that it has already, under other words: such an
    edge carries the facts of the verdicts that no other edge accounts for.
    """
    listed = list(edges)
    named = {plain(edge.fact) for edge in listed}
    spare = [v for text, v in call.verdicts.items() if text not in named and v[1].allowed]
    links: list[Owned] = []
    for edge in listed:
        found = call.verdicts.get(plain(edge.fact))
        verdicts = [found] if found is not None else spare
        for subject, verdict in verdicts:
            links.append((subject, _edge_link(ledger, name, reception, edge, verdict)))
    return links


def episode_links(name: str, reception: Reception, episode: str) -> list[Owned]:
    """A link for each speaker between the episode and the facts that its text says.

    A native id belongs to one person, so each speaker's part of the episode has its own.
    """
    return [
        (
            subject,
            NativeLink(
                projection=name,
                native_id=native_id(reception.group_id, f"episode.{number}", episode),
                fact_ids=_carried(reception, subject),
                message_id=_first_id(reception, subject),
            ),
        )
        for number, subject in enumerate(reception.subjects)
    ]


def direct_link(
    ledger: Ledger, name: str, reception: Reception, uuid: str, text: str
) -> NativeLink:
    """The link of an edge that a caller wrote: it carries what its words say, beside what it
    carried before. Blocking."""
    native = native_id(reception.group_id, "edge", uuid)
    said = facts_forwarded(reception.receipts[0])
    return NativeLink(
        projection=name,
        native_id=native,
        fact_ids=tuple(dict.fromkeys([*_carried_before(ledger, name, native), *said])),
        message_id=reception.message_ids[0],
        text=text,
    )


def _carried_before(ledger: Ledger, name: str, native: str) -> list[str]:
    return [i for link in ledger.links(name, native_id=native) for i in link.fact_ids]


def _first_id(reception: Reception, subject: Subject) -> str:
    return next(turn.message_id for turn in reception.turns if turn.subject == subject)


def _edge_link(
    ledger: Ledger, name: str, reception: Reception, edge: EntityEdge, verdict: Extracted
) -> NativeLink:
    native = native_id(reception.group_id, "edge", edge.uuid)
    before = _carried_before(ledger, name, native)
    return NativeLink(
        projection=name,
        native_id=native,
        fact_ids=tuple(dict.fromkeys([*before, *verdict.fact_ids])),
        message_id=verdict.message_id or reception.message_ids[0],
        text=edge.fact,
    )


def _carried(reception: Reception, subject: Subject) -> tuple[str, ...]:
    """Facts of a person's turns whose words went on."""
    found: list[str] = []
    for receipt in reception.receipts:
        if receipt.subject == subject:
            found += facts_forwarded(receipt)
    return tuple(dict.fromkeys(found))


def facts_forwarded(receipt: Receipt) -> list[str]:
    """Facts of a turn whose words went on to Graphiti."""
    return [
        judged.fact_id
        for judged in receipt.judged
        if judged.fact_id is not None
        and not any(span.overlaps(judged.candidate.evidence.span) for span in receipt.withheld)
    ]
