"""Communities that are brought up to date after an episode (`update_communities=True`).

Graphiti's own way of it ends in an error after any episode (verified:
tests/graphiti/test_host_facts.py), so it is done here, with Graphiti's own parts.
"""

from __future__ import annotations

from graphiti_core.graphiti import AddEpisodeResults
from graphiti_core.graphiti_types import GraphitiClients
from graphiti_core.utils.maintenance.community_operations import update_community


async def brought_up_to_date(
    clients: GraphitiClients, result: AddEpisodeResults
) -> AddEpisodeResults:
    """The result of an episode, with the communities of its entities, whose summaries tell of it.

    One entity after another: two of the same community would overwrite each other.
    """
    for node in result.nodes:
        communities, edges = await update_community(
            clients.driver, clients.llm_client, clients.embedder, node, clients=clients
        )
        result.communities += communities
        result.community_edges += edges
    return result
