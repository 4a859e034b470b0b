"""Reads of a gated Graphiti: Graphiti's own, with one difference where no group is named.

On Neo4j all groups share one graph, and a search without group ids spans all of them. A gated
Graphiti then looks into the default group, the one that an episode without a group id goes to: a
read without a scope finds nobody else's facts. `all_groups=True` restores Graphiti's way.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from graphiti_core.driver.driver import GraphDriver, GraphProvider
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EpisodeType, EpisodicNode
from graphiti_core.search.search_config import DEFAULT_SEARCH_LIMIT, SearchConfig, SearchResults
from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_CROSS_ENCODER
from graphiti_core.search.search_filters import SearchFilters
from graphiti_core.utils.maintenance.graph_data_operations import EPISODE_WINDOW_LEN

from memgate_graphiti.calls import active_call
from memgate_graphiti.desk import Desk


class ScopedReads:
    """Search and retrieval, mixed into `GatedGraphiti`."""

    driver: GraphDriver
    all_groups: bool
    desk: Desk

    async def search(
        self,
        query: str,
        center_node_uuid: str | None = None,
        group_ids: list[str] | None = None,
        num_results: int = DEFAULT_SEARCH_LIMIT,
        search_filter: SearchFilters | None = None,
        driver: GraphDriver | None = None,
    ) -> list[EntityEdge]:
        """Graphiti's search; without group ids, of the default group."""
        self.desk.bridge.adopt()
        sifts = self._sifts(group_ids)
        inner: Any = super()
        wanted = num_results * _WIDER if sifts else num_results
        found: list[EntityEdge] = await inner.search(
            query,
            center_node_uuid=center_node_uuid,
            group_ids=group_ids,
            num_results=wanted,
            search_filter=search_filter,
            driver=driver,
        )
        return [edge for edge in found if self._is_default(edge)][:num_results] if sifts else found

    async def search_(
        self,
        query: str,
        config: SearchConfig = COMBINED_HYBRID_SEARCH_CROSS_ENCODER,
        group_ids: list[str] | None = None,
        center_node_uuid: str | None = None,
        bfs_origin_node_uuids: list[str] | None = None,
        search_filter: SearchFilters | None = None,
        driver: GraphDriver | None = None,
        query_vector: list[float] | None = None,
    ) -> SearchResults:
        """Graphiti's advanced search; without group ids, of the default group."""
        self.desk.bridge.adopt()
        sifts = self._sifts(group_ids)
        inner: Any = super()
        found: SearchResults = await inner.search_(
            query,
            config.model_copy(update={"limit": config.limit * _WIDER}) if sifts else config,
            group_ids=group_ids,
            center_node_uuid=center_node_uuid,
            bfs_origin_node_uuids=bfs_origin_node_uuids,
            search_filter=search_filter,
            driver=driver,
            query_vector=query_vector,
        )
        return self._sifted(found, config.limit) if sifts else found

    async def retrieve_episodes(
        self,
        reference_time: datetime,
        last_n: int = EPISODE_WINDOW_LEN,
        group_ids: list[str] | None = None,
        source: EpisodeType | None = None,
        driver: GraphDriver | None = None,
        saga: str | None = None,
    ) -> list[EpisodicNode]:
        """Graphiti's last episodes; without group ids, of the default group."""
        self.desk.bridge.adopt()
        inner: Any = super()
        scope = [self.driver.default_group_id] if self._sifts(group_ids) else group_ids
        found: list[EpisodicNode] = await inner.retrieve_episodes(
            reference_time, last_n, group_ids=scope, source=source, driver=driver, saga=saga
        )
        if not found and driver is not None and active_call(self.desk) is not None:
            await self.desk.groups.indexed(driver)
        return found

    def _sifts(self, group_ids: list[str] | None) -> bool:
        """True for a read without a scope that would span groups. A FalkorDB graph holds one group
        only. The empty id of the default group counts as no scope too: Graphiti takes a search
        for it as one of all groups (verified: tests/graphiti/test_host_facts.py)."""
        named = [group_id for group_id in group_ids or [] if group_id]
        shared = self.driver.provider is GraphProvider.NEO4J
        return shared and not named and not self.all_groups

    def _is_default(self, thing: Any) -> bool:
        return bool(thing.group_id == self.driver.default_group_id)

    def _sifted(self, found: SearchResults, limit: int) -> SearchResults:
        kept: dict[str, Any] = {}
        for kind, scores in _KINDS.items():
            things, numbers = getattr(found, kind), getattr(found, scores)
            at = [i for i, thing in enumerate(things) if self._is_default(thing)][:limit]
            kept[kind] = [things[i] for i in at]
            kept[scores] = [numbers[i] for i in at if i < len(numbers)]
        return SearchResults(**kept)


_WIDER = 5
"""How many times more results are asked for where those of other groups are sifted out."""

_KINDS = {
    "edges": "edge_reranker_scores",
    "nodes": "node_reranker_scores",
    "episodes": "episode_reranker_scores",
    "communities": "community_reranker_scores",
}
