"""`rebuild`: drops what the gate owns in a graph and writes the ledger's state into it."""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.model import Fact, FactStatus, NativeLink, StagedItem, Subject
from memgate_core.rebuilt import RebuildReport, as_staged
from memgate_graphiti import staging
from memgate_graphiti.desk import Desk
from memgate_graphiti.graph import Graph
from memgate_graphiti.payloads import parts_of


async def rebuild(desk: Desk, subjects: Sequence[Subject] | None = None) -> RebuildReport:
    """Takes every edge that carries a fact and every held item out of the graph, and writes each
    fact and held item of the ledger anew, facts with the intervals they have there.

    Episodes, and edges that no fact rests on (what was there before the gate), stay. `subjects`:
    all of the tenant when None. Repeatable: a rebuild that broke off is simply done again.

    Raises:
        Exception: whatever the database raises.
    """
    desk.bridge.adopt()
    ledger, tenant = desk.gate.ledger, desk.groups.tenant
    whose = subjects if subjects is not None else await desk.gate.off_loop(ledger.subjects, tenant)
    await desk.deliver()
    report = RebuildReport(projection=desk.name, subjects=len(whose))
    for subject in whose:
        report = await _rebuild_one(desk, subject, report)
    return report


async def _rebuild_one(desk: Desk, subject: Subject, report: RebuildReport) -> RebuildReport:
    graph = await desk.projection.graph(subject)
    removed = await _clear(desk, graph, subject)
    facts, held = await desk.gate.off_loop(_state, desk, subject)
    links = [await desk.projection.writer.write(graph, fact, subject) for fact in facts]
    await desk.gate.off_loop(_note, desk, subject, links)
    for item in held:
        await desk.gate.off_loop(desk.projection.apply, as_staged(subject, item))
    current = sum(fact.status is FactStatus.CURRENT for fact in facts)
    return report.plus(
        removed=removed, current=current, closed=len(facts) - current, staged=len(held)
    )


async def _clear(desk: Desk, graph: Graph, subject: Subject) -> int:
    """Removes every edge that carries a fact, its lines in summaries, and the staging nodes."""
    found = await desk.gate.off_loop(_linked_edges, desk, subject)
    removed = 0
    for link in found:
        edge = await graph.edge(parts_of(link.native_id)[2])
        if edge is not None:
            await graph.delete_edge(edge.uuid)
            await graph.untell(edge.nodes, edge.fact)
            removed += 1
    await staging.drop_all(graph, subject.actor)
    await desk.gate.off_loop(_forget, desk, subject, found)
    return removed


def _linked_edges(desk: Desk, subject: Subject) -> list[NativeLink]:
    links = desk.gate.ledger.links(desk.name, subject=subject)
    return [link for link in links if parts_of(link.native_id)[1] == "edge"]


def _forget(desk: Desk, subject: Subject, links: Sequence[NativeLink]) -> None:
    with desk.gate.ledger.write(subject) as tx:
        for link in links:
            tx.unlink(desk.name, link.native_id)


def _state(desk: Desk, subject: Subject) -> tuple[list[Fact], list[StagedItem]]:
    """Facts that held or hold, oldest first, and items that are held."""
    facts = desk.gate.ledger.facts(subject, include_closed=True)
    shown = (FactStatus.CURRENT, FactStatus.SUPERSEDED)
    return (
        [fact for fact in facts if fact.native and fact.status in shown],
        list(desk.gate.ledger.staged(subject)),
    )


def _note(desk: Desk, subject: Subject, links: Sequence[NativeLink]) -> None:
    with desk.gate.ledger.write(subject) as tx:
        for link in links:
            tx.link(link)
