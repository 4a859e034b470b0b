"""Everything that a group's graph holds of one subject, taken out when the subject is erased."""

from __future__ import annotations

from collections.abc import Sequence

from graphiti_core import Graphiti
from graphiti_core.errors import NodeNotFoundError
from graphiti_core.utils.maintenance.graph_data_operations import clear_data

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Subject
from memgate_graphiti import episodes, staging
from memgate_graphiti.graph import Graph
from memgate_graphiti.payloads import parts_of


def owns_group(ledger: Ledger, subject: Subject) -> bool:
    """True when nobody else is known to speak in the subject's group: then it goes as a whole."""
    return not any(
        other.user_id == subject.user_id and other != subject
        for other in ledger.subjects(subject.tenant)
    )


async def erase_group(graph: Graph) -> None:
    """Empties the group: entities, edges, episodes, communities, sagas and held items."""
    await clear_data(graph.driver, [graph.group_id])
    await staging.drop_all(graph, everybody=True)


async def erase_subject(
    graphiti: Graphiti, graph: Graph, subject: Subject, natives: Sequence[str]
) -> None:
    """Takes out what the ledger knows of one of several people in a group."""
    for native in natives:
        _group, kind, uuid = parts_of(native)
        if kind == "edge":
            await _erase_edge(graph, uuid)
        elif kind == "episode":
            await _erase_episode(graphiti, graph, uuid)
    await staging.drop_all(graph, subject.actor)


async def _erase_edge(graph: Graph, uuid: str) -> None:
    edge = await graph.edge(uuid)
    if edge is None:
        return
    await graph.delete_edge(uuid)
    await graph.untell(edge.nodes, edge.fact)
    await graph.drop_lonely(edge.nodes)


async def _erase_episode(graphiti: Graphiti, graph: Graph, uuid: str) -> None:
    try:
        await episodes.remove(graphiti, graph, uuid)
    except NodeNotFoundError:
        return
