"""An episode that an earlier try stored before it broke off: found again, and taken out.

Graphiti mints an episode's uuid inside its own call, so a try that died before the ledger knew of
it left an episode that nothing points to. It is known by its words, name and time.
"""

from __future__ import annotations

from datetime import datetime

from memgate_core.ledger.protocol import Ledger
from memgate_graphiti.graph import Graph
from memgate_graphiti.payloads import native_id

_SAME = """
MATCH (e:Episodic)
WHERE e.group_id = $group_id AND e.name = $name AND e.valid_at = $at AND e.content IN $contents
RETURN e.uuid AS uuid
"""


async def candidates(graph: Graph, name: str, body: str, reference_time: datetime) -> list[str]:
    """Episodes with this name, body and time; the body may have been stored as nothing."""
    rows = await graph.rows(
        _SAME, group_id=graph.group_id, name=name, at=reference_time, contents=[body, ""]
    )
    return [str(row["uuid"]) for row in rows]


def unknown(ledger: Ledger, name: str, group_id: str, uuids: list[str]) -> list[str]:
    """Those that no recorded call stored. Blocking."""
    return [
        uuid
        for uuid in uuids
        if not ledger.links(name, native_id=native_id(group_id, "episode.0", uuid))
    ]
