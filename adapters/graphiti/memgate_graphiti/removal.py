"""Taking back, in the ledger and in the graph: facts, a person's whole memory, an episode."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from graphiti_core import Graphiti
from graphiti_core.errors import NodeNotFoundError

from memgate_core.errors import NotFoundError
from memgate_core.model import NativeLink, Subject
from memgate_core.revocation import Revoked
from memgate_graphiti import episodes
from memgate_graphiti.calls import under_way
from memgate_graphiti.desk import Desk
from memgate_graphiti.payloads import native_id, parts_of

BY = "application"
"""Who took a fact back, in the audit trail, when the application removed its episode."""

_MOST_SPEAKERS = 64


async def revoke(desk: Desk, found_id: str, **options: Any) -> Revoked:
    """Takes back a fact, a held item or a proposal, and looks for what is left of it.

    Raises:
        NotFoundError: nothing has this id. InvalidInputError, ApprovalError: `by` is nobody, or a
            program.
    """
    subject = await desk.off_loop(_subject_of, desk, found_id)
    return await desk.delivering(subject, desk.gate.revocation.revoke, found_id, **options)


async def erase(desk: Desk, subject: Subject, *, by: str) -> Revoked:
    """Removes every word of a subject.

    Raises:
        NotFoundError: the ledger does not know the subject. Others as `revoke`.
    """
    return await desk.delivering(subject, desk.gate.revocation.erase, subject, by=by)


async def remove_episode(graphiti: Graphiti, desk: Desk, group_id: str, uuid: str) -> None:
    """Revokes the facts that no other episode says, then removes the episode.

    Raises:
        NotFoundError: no such episode in the group. LedgerError: nothing was removed.
    """
    graph = await desk.projection.group_graph(group_id)
    if await episodes.content_of(graph, uuid) is None:
        raise NotFoundError(f"no episode {uuid!r} in group {group_id!r}")
    for fact_id in await desk.off_loop(_only_said_here, desk, group_id, uuid):
        await revoke(desk, fact_id, by=BY, reopen=True)
    async with desk.traffic.ingesting(group_id):
        # the revocation may have left it nothing to say, and then it is gone already
        with under_way(None), suppress(NodeNotFoundError):
            await episodes.remove(graphiti, graph, uuid)


def _subject_of(desk: Desk, found_id: str) -> Subject | None:
    ledger = desk.gate.ledger
    found = ledger.fact(found_id) or ledger.staged_item(found_id) or ledger.proposal(found_id)
    return found.key.subject if found is not None else None


def _only_said_here(desk: Desk, group_id: str, uuid: str) -> list[str]:
    """Facts that the episode carries and no other does. Blocking."""
    found = [i for link in links_of_episode(desk, group_id, uuid) for i in link.fact_ids]
    return [fact_id for fact_id in found if not _said_elsewhere(desk, fact_id, uuid)]


def links_of_episode(desk: Desk, group_id: str, uuid: str) -> list[NativeLink]:
    """What the ledger knows of an episode: a link for each of its speakers. Blocking."""
    found: list[NativeLink] = []
    for number in range(_MOST_SPEAKERS):
        native = native_id(group_id, f"episode.{number}", uuid)
        links = desk.gate.ledger.links(desk.name, native_id=native)
        if not links:
            break
        found += links
    return found


def _said_elsewhere(desk: Desk, fact_id: str, uuid: str) -> bool:
    links = desk.gate.ledger.links(desk.name, fact_id=fact_id)
    parts = [parts_of(link.native_id) for link in links]
    return any(kind == "episode" and other != uuid for _group, kind, other in parts)
