"""`EpisodeHook`: the gate around episodes, for services that call Graphiti themselves.

    hook = EpisodeHook(graphiti, gate)
    episode = await hook.before_episode(name="m1", body=body, reference_time=at, message_id="m1")
    if episode.body is not None:
        result = await graphiti.add_episode(episode.name, episode.body, "chat", at)
        await hook.after_episode(episode, result)

`GatedGraphiti` does the same inside its own calls, and judges extractions before they are stored;
here Graphiti's own call is not touched, so they are judged when it has stored them: what may not
stand is taken out again, and what it ended is opened again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from graphiti_core import Graphiti
from graphiti_core.edges import EntityEdge
from graphiti_core.graphiti import AddEpisodeResults
from graphiti_core.nodes import EpisodeType

from memgate_core.gate import MemoryGate
from memgate_core.model import FactStatus, Receipt
from memgate_graphiti import episodes, heard
from memgate_graphiti.answers import Claim
from memgate_graphiti.calls import ActiveCall
from memgate_graphiti.desk import Desk
from memgate_graphiti.graph import Graph
from memgate_graphiti.ingesting import links_of, mend
from memgate_graphiti.linking import judge_text
from memgate_graphiti.payloads import native_id, plain
from memgate_graphiti.results import recorded
from memgate_graphiti.speech import Speakers


@dataclass(frozen=True)
class GatedEpisode:
    """What may go on of an episode."""

    body: str | None
    """The text to ingest; None when there is nothing to ingest."""
    receipts: tuple[Receipt, ...]
    done: bool
    """True when the same message id was ingested before."""
    heard: heard.Heard

    @property
    def name(self) -> str:
        """The name to ingest it under: the caller's, without words that are kept back."""
        return self.heard.incoming.name

    def say(self) -> str:
        """A truthful sentence an assistant may voice: never "saved" for what is held."""
        said = [text for r in self.receipts if (text := r.say()) != "nothing to remember"]
        return "; ".join(said) if said else "nothing to remember"


class EpisodeHook:
    """The gate around somebody else's `add_episode`."""

    def __init__(
        self,
        graphiti: Graphiti,
        gate: MemoryGate,
        *,
        tenant: str = "default",
        speakers: Speakers | None = None,
        projection: str = "graphiti",
    ) -> None:
        self._graphiti = graphiti
        self.desk = Desk(graphiti, gate, tenant=tenant, speakers=speakers, name=projection)

    async def before_episode(
        self,
        *,
        name: str,
        body: str,
        reference_time: datetime,
        source: EpisodeType = EpisodeType.message,
        group_id: str | None = None,
        message_id: str | None = None,
        user_id: str | None = None,
        role: str = "user",
        session: str | None = None,
    ) -> GatedEpisode:
        """Takes an episode through the gate and says what may be ingested of it.

        Ingest `.body` under `.name`, in the same group and with the same reference time, then call
        `after_episode`; after a failure `failed_episode`. Where nothing may be ingested, it is all
        done here.

        Raises:
            InvalidTurnError: malformed; nothing was recorded. LedgerError: may be retried.
            ProtocolConflictError: the message id is known with other words.
        """
        group = self.desk.groups.named(group_id)
        came = heard.Incoming(name, body, source, "", reference_time)
        rest: dict[str, Any] = {"message_id": message_id, "user_id": user_id, "role": role}
        one = await heard.hear(self.desk, group, came, saga=session, **rest)
        receipts = one.reception.receipts
        if one.reception.body is None:
            await self.desk.settle(one.reception)
            return GatedEpisode(None, receipts, False, one)
        claim = await self.desk.begin(one.reception)
        if claim is Claim.DONE:
            await self.desk.settle(one.reception)
            return GatedEpisode(None, receipts, True, one)
        if claim is Claim.AGAIN:
            graph = await self.desk.projection.group_graph(group)
            remove = partial(episodes.remove, self._graphiti)
            await heard.clear_lost(self.desk, graph, one, remove)
        return GatedEpisode(one.reception.body, receipts, False, one)

    async def after_episode(self, episode: GatedEpisode, result: AddEpisodeResults) -> list[str]:
        """Judges what was stored, notes it and delivers what is due.

        Returns the uuids of edges that were taken out again.

        Raises:
            LedgerError: the call may be repeated.
        """
        reception = episode.heard.reception
        sources = reception.sources(self.desk.speakers)
        call = ActiveCall(self.desk, sources, judges=not reception.shadow)
        made = [edge for edge in result.edges if result.episode.uuid in edge.episodes]
        refused = await self._refused(call, made, result) if call.judges else []
        graph = await self.desk.projection.group_graph(reception.group_id)
        for edge in refused:
            await graph.delete_edge(edge.uuid)
            await graph.untell((edge.source_node_uuid, edge.target_node_uuid), edge.fact)
            await graph.drop_lonely(
                (edge.source_node_uuid, edge.target_node_uuid), [result.episode.uuid]
            )
        if refused:
            await self._reopen(graph, [edge for edge in result.edges if edge not in made])
        gone = {edge.uuid for edge in refused}
        kept = result.model_copy(update={"edges": [e for e in result.edges if e.uuid not in gone]})
        await mend(self.desk, reception.group_id, kept.edges)
        links = await self.desk.off_loop(links_of, self.desk, reception, call, kept)
        await self.desk.record(reception, recorded(kept), links)
        await self.desk.settle(reception)
        return sorted(gone)

    async def failed_episode(self, episode: GatedEpisode) -> None:
        """Says that the ingestion failed: the same message id may be tried again at once."""
        await self.desk.give_up(episode.heard.reception)

    async def close(self) -> None:
        """Waits for background deliveries. The Graphiti and the gate are the caller's."""
        await self.desk.close()

    async def _refused(
        self, call: ActiveCall, made: list[EntityEdge], result: AddEpisodeResults
    ) -> list[EntityEdge]:
        names = {node.uuid: node.name for node in result.nodes}
        refused = []
        for edge in made:
            ends = [names.get(uuid, "") for uuid in (edge.source_node_uuid, edge.target_node_uuid)]
            found = await self.desk.off_loop(judge_text, self.desk.gate, call, edge.fact, ends)
            if found is not None:
                call.verdicts[plain(edge.fact)] = found
            if found is None or not found[1].allowed:
                refused.append(edge)
        return refused

    async def _reopen(self, graph: Graph, ended: list[EntityEdge]) -> None:
        """Opens edges again that Graphiti ended, where the ledger says that they hold."""
        for edge in ended:
            native = native_id(graph.group_id, "edge", edge.uuid)
            if await self.desk.off_loop(self._holds, native):
                await graph.reopen_edge(edge.uuid)

    def _holds(self, native: str) -> bool:
        ledger = self.desk.gate.ledger
        links = ledger.links(self.desk.name, native_id=native)
        facts = [ledger.fact(fact_id) for link in links for fact_id in link.fact_ids]
        return any(fact is not None and fact.status is FactStatus.CURRENT for fact in facts)
