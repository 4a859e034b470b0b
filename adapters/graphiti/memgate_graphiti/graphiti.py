"""`GatedGraphiti`: a `Graphiti` whose graph holds what is true, and not what is planned.

Every call has the signature of Graphiti's own, with keyword-only additions. A call with nothing to
hold, correct or resolve goes through unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from graphiti_core import Graphiti
from graphiti_core.edges import EntityEdge
from graphiti_core.graphiti import AddBulkEpisodeResults, AddEpisodeResults, AddTripletResults
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode, SagaNode
from graphiti_core.utils.bulk_utils import RawEpisode

from memgate_core.errors import ConfigurationError, NotFoundError
from memgate_core.gate import MemoryGate
from memgate_core.projection import DeliveryReport
from memgate_core.revocation import Revoked
from memgate_graphiti import bulk, communities, episodes, heard, ingesting, removal, triplets
from memgate_graphiti.calls import under_way
from memgate_graphiti.desk import Desk
from memgate_graphiti.guarded import Guard
from memgate_graphiti.judging_llm import JudgingLLM
from memgate_graphiti.namespaces import gate_namespaces
from memgate_graphiti.reads import ScopedReads
from memgate_graphiti.results import (
    GatedBulkEpisodeResults,
    GatedEpisodeResults,
    GatedTripletResults,
)
from memgate_graphiti.speech import Speakers
from memgate_graphiti.staged import Staged

PromoteAs = Literal["edge", "episode"]
"""How a promotion is written: as an edge with its dates, or through Graphiti's own ingestion of
the completed form, by the configured LLM."""


class GatedGraphiti(ScopedReads, Graphiti):  # type: ignore[misc]
    """A `Graphiti` behind a gate.

        graphiti = GatedGraphiti(uri, user, password, gate=MemoryGate.open("sqlite:///memgate.db"))

    `group_id` is the user whose memory it is; where several people share a group, `user_id` says
    who speaks, and other names in a message are people of their own (`speakers`).
    """

    desk: Desk
    staged: Staged
    """Held items: list, search, get, confirm, discard."""

    def __init__(
        self,
        *args: Any,
        gate: MemoryGate | None = None,
        tenant: str = "default",
        speakers: Speakers | None = None,
        projection: str = "graphiti",
        promote_as: PromoteAs = "edge",
        all_groups: bool = False,
        **kwargs: Any,
    ) -> None:
        """Takes what `Graphiti` takes, and:

        gate: the gate; None opens the default ledger, `sqlite:///memgate.db`, and closes it with
            this object.
        speakers: which names in messages are the subject's, the assistant's and tools'.
        projection: the name under which the ledger knows this graph.
        promote_as: see `PromoteAs`.
        all_groups: True lets a read without group ids span all groups of a Neo4j graph.
        """
        super().__init__(*args, **kwargs)
        self._stand_behind(
            gate,
            tenant=tenant,
            speakers=speakers,
            projection=projection,
            promote_as=promote_as,
            all_groups=all_groups,
        )

    def _stand_behind(
        self,
        gate: MemoryGate | None,
        *,
        tenant: str = "default",
        speakers: Speakers | None = None,
        projection: str = "graphiti",
        promote_as: PromoteAs = "edge",
        all_groups: bool = False,
    ) -> None:
        if promote_as not in ("edge", "episode"):
            raise ConfigurationError(
                f"promote_as is {promote_as!r}", hint='one of "edge", "episode"'
            )
        self.all_groups = all_groups
        self.desk = Desk(
            self,
            gate if gate is not None else MemoryGate.open(),
            tenant=tenant,
            speakers=speakers,
            name=projection,
            owns_gate=gate is None,
            ingest=self._ingest_plainly if promote_as == "episode" else None,
        )
        self.staged = Staged(self.desk)
        self._judge_extractions()
        gate_namespaces(self.nodes, self.edges, Guard(self.desk))

    @property
    def gate(self) -> MemoryGate:
        """The gate in front of this graph."""
        return self.desk.gate

    # --- writes --------------------------------------------------------------------------------

    async def add_episode(
        self,
        name: str,
        episode_body: str,
        source_description: str,
        reference_time: datetime,
        source: EpisodeType = EpisodeType.message,
        group_id: str | None = None,
        uuid: str | None = None,
        update_communities: bool = False,
        entity_types: dict[str, Any] | None = None,
        excluded_entity_types: list[str] | None = None,
        previous_episode_uuids: list[str] | None = None,
        edge_types: dict[str, Any] | None = None,
        edge_type_map: dict[tuple[str, str], list[str]] | None = None,
        custom_extraction_instructions: str | None = None,
        saga: str | SagaNode | None = None,
        saga_previous_episode_uuid: str | None = None,
        *,
        message_id: str | None = None,
        user_id: str | None = None,
        role: str = "user",
    ) -> GatedEpisodeResults:
        """Graphiti's `add_episode`, behind the gate.

        `reference_time` (aware) is the turn's time. Each "name: text" line of a message is a turn
        of that speaker. `message_id`: the same id again returns the first result; without one
        retries are not recognised. `user_id`: who the user is, in a group of several. `role`: who
        speaks in a text or json episode.

        Words that are held or refused are not in the body that Graphiti gets; when none are left,
        it gets none, and the result's `ingested` is False. A stored episode (`uuid`) loses such
        words, or goes.

        Raises:
            InvalidTurnError: malformed (group id, time zone, empty body); nothing was recorded.
            ProtocolConflictError: the message id is known with other words.
            LedgerError: nothing was done; the same call may be retried.
            ModelFaultError, ProjectionError: the LLM or the database failed; the turn is recorded,
                and the same call may be retried with the same message id.
        """
        group = self.desk.groups.named(group_id)
        came = await heard.incoming_of(
            self.desk,
            group,
            name=name,
            body=episode_body,
            source=source,
            source_description=source_description,
            reference_time=reference_time,
            uuid=uuid,
        )
        one = await heard.hear(
            self.desk, group, came, message_id=message_id, user_id=user_id, role=role, saga=saga
        )
        inner: Any = super()

        async def call(body: str) -> AddEpisodeResults:
            result: AddEpisodeResults = await inner.add_episode(
                one.incoming.name,
                body,
                one.incoming.source_description,
                reference_time,
                source,
                group_id,
                uuid,
                False,
                entity_types,
                excluded_entity_types,
                previous_episode_uuids,
                edge_types,
                edge_type_map,
                custom_extraction_instructions,
                saga,
                saga_previous_episode_uuid,
            )
            if not update_communities:
                return result
            view = episodes.scoped(self, self.desk.groups.driver(group))
            return await communities.brought_up_to_date(view.clients, result)

        return await ingesting.ingest(self, self.desk, one, call)

    async def add_episode_bulk(
        self,
        bulk_episodes: list[RawEpisode],
        group_id: str | None = None,
        entity_types: dict[str, Any] | None = None,
        excluded_entity_types: list[str] | None = None,
        edge_types: dict[str, Any] | None = None,
        edge_type_map: dict[tuple[str, str], list[str]] | None = None,
        strict_edge_types: bool = False,
        custom_extraction_instructions: str | None = None,
        saga: str | SagaNode | None = None,
        use_combined_extraction: bool = True,
        *,
        message_ids: Sequence[str] | None = None,
        user_id: str | None = None,
        role: str = "user",
    ) -> GatedBulkEpisodeResults:
        """Graphiti's `add_episode_bulk`, behind the gate: episodes are judged in order.

        `message_ids`: one an episode. `user_id`, `role` and errors as in `add_episode`.
        """
        ids = bulk.check_ids(message_ids, len(bulk_episodes))
        group = self.desk.groups.named(group_id)
        many = [
            await self._hear_raw(group, raw, message_id, user_id=user_id, role=role, saga=saga)
            for raw, message_id in zip(bulk_episodes, ids, strict=True)
        ]
        inner: Any = super()

        async def call(kept: list[RawEpisode]) -> AddBulkEpisodeResults:
            return await inner.add_episode_bulk(
                kept,
                group_id,
                entity_types,
                excluded_entity_types,
                edge_types,
                edge_type_map,
                strict_edge_types,
                custom_extraction_instructions,
                saga,
                use_combined_extraction,
            )

        if not many:
            return GatedBulkEpisodeResults(**(await call([])).model_dump())
        return await bulk.ingest(self, self.desk, many, bulk_episodes, call)

    async def add_triplet(
        self,
        source_node: EntityNode,
        edge: EntityEdge,
        target_node: EntityNode,
        episode: EpisodicNode | None = None,
        *,
        message_id: str | None = None,
        user_id: str | None = None,
        reference_time: datetime | None = None,
    ) -> GatedTripletResults:
        """Graphiti's `add_triplet`, behind the gate and in the edge's own group.

        The edge's fact is judged as the user's statement, made at `reference_time` (else the
        edge's own reference time, valid_at or created_at). A fact that is held or refused is not
        written, and the result's `ingested` is False. Errors as in `add_episode`.
        """
        at = reference_time or edge.reference_time or edge.valid_at or edge.created_at
        reception = await triplets.hear(
            self.desk,
            source_node,
            edge,
            target_node,
            message_id=message_id,
            user_id=user_id,
            reference_time=at,
        )
        view = episodes.scoped(self, self.desk.groups.driver(reception.group_id))
        inner: Any = super(GatedGraphiti, view)

        async def call(source: EntityNode, target: EntityNode) -> AddTripletResults:
            return await inner.add_triplet(source, edge, target, episode)

        return await triplets.write(self.desk, reception, source_node, target_node, call)

    async def remove_episode(self, episode_uuid: str, *, group_id: str | None = None) -> None:
        """Removes an episode with what rests on it alone, in whatever group it lies.

        Facts that only this episode says are revoked in the ledger too; what they had replaced
        holds again. Entities that other facts need stay, with their edges. `group_id` saves the
        search for the group.

        Raises:
            NotFoundError: no such episode. ProjectionError: the database did not answer.
        """
        groups = self.desk.groups
        group = group_id if group_id is not None else await groups.holding_episode(episode_uuid)
        if group is None:
            raise NotFoundError(f"no episode {episode_uuid!r} in any group")
        await removal.remove_episode(self, self.desk, groups.named(group), episode_uuid)

    async def revoke(
        self, found_id: str, *, by: str, reopen: bool | None = None, reason: str | None = None
    ) -> Revoked:
        """Takes back a fact, a held item or a proposal by its id: in the ledger, in the graph
        (edge, staging, summaries, episode text), and reports what is left of it anywhere.

        See `memgate_core.revocation.Revocation.revoke` for the rest.
        """
        return await removal.revoke(self.desk, found_id, by=by, reopen=reopen, reason=reason)

    async def erase(
        self, group_id: str | None = None, *, by: str, user_id: str | None = None
    ) -> Revoked:
        """Removes every word of a group's user (or of `user_id` in it), here and in the ledger.

        See `memgate_core.revocation.Revocation.erase` for the rest.
        """
        groups = self.desk.groups
        subject = groups.subject(groups.named(group_id), user_id)
        return await removal.erase(self.desk, subject, by=by)

    # --- delivery ------------------------------------------------------------------------------

    async def deliver(self) -> DeliveryReport:
        """Carries everything that is due into this graph. Never raises for its fault."""
        return await self.desk.deliver()

    async def delivered(self) -> None:
        """Waits until nothing is being delivered in the background."""
        await self.desk.delivered()

    async def close(self) -> None:
        """Waits for background deliveries, then closes the driver, and the gate if it is ours."""
        await self.desk.close()
        await super().close()

    # --- parts ---------------------------------------------------------------------------------

    async def _hear_raw(
        self, group: str, raw: RawEpisode, message_id: str | None, **rest: Any
    ) -> heard.Heard:
        came = await heard.incoming_of(
            self.desk,
            group,
            name=raw.name,
            body=raw.content,
            source=raw.source,
            source_description=raw.source_description,
            reference_time=raw.reference_time,
            uuid=raw.uuid,
        )
        return await heard.hear(self.desk, group, came, message_id=message_id, **rest)

    async def _ingest_plainly(self, name: str, body: str, at: datetime, group_id: str) -> None:
        """Graphiti's own ingestion of a promotion, for `promote_as="episode"`."""
        with under_way(None):
            await super().add_episode(
                name,
                body,
                "confirmed by the user",
                at,
                EpisodeType.message,
                None if group_id == self.desk.groups.default else group_id,
            )

    def _judge_extractions(self) -> None:
        """Puts the judge between Graphiti and its LLM, on both ways that Graphiti takes to it."""
        if self.llm_runtime is not None:
            for transport in self.llm_runtime.transports:
                transport.client = self._judging(transport.client)
            self.llm_client = self.llm_runtime.client
        else:
            self.llm_client = self._judging(self.llm_client)
        self.clients.llm_client = self.llm_client

    def _judging(self, client: Any) -> JudgingLLM:
        return JudgingLLM(client, self.desk, self.desk.judge)
