"""AgentMemGate for Graphiti: `GatedGraphiti` instead of `Graphiti`, or `gate_graphiti(existing)`.

    from memgate_graphiti import GatedGraphiti
    graphiti = GatedGraphiti(uri, user, password)

Importing this package imports Graphiti only when a name is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memgate_core.rebuilt import RebuildReport
    from memgate_graphiti.blocking import BlockingGraphiti
    from memgate_graphiti.embedded import EmbeddedFalkorDB
    from memgate_graphiti.embedder import PackagedMiniLM, VectorReranker
    from memgate_graphiti.graphiti import GatedGraphiti
    from memgate_graphiti.guarded import HeldError
    from memgate_graphiti.hook import EpisodeHook, GatedEpisode
    from memgate_graphiti.pipeline import GraphitiPipeline, graphiti_pipeline
    from memgate_graphiti.projection import GraphitiProjection
    from memgate_graphiti.rebuilding import rebuild
    from memgate_graphiti.recorded import RecordedFact, RecordedLLM
    from memgate_graphiti.results import (
        GatedBulkEpisodeResults,
        GatedEpisodeResults,
        GatedTripletResults,
    )
    from memgate_graphiti.servers import driver_at
    from memgate_graphiti.speech import Speakers
    from memgate_graphiti.wrap import gate_graphiti

_HOME = {
    "BlockingGraphiti": "blocking",
    "EmbeddedFalkorDB": "embedded",
    "EpisodeHook": "hook",
    "GatedBulkEpisodeResults": "results",
    "GatedEpisode": "hook",
    "GatedEpisodeResults": "results",
    "GatedGraphiti": "graphiti",
    "GatedTripletResults": "results",
    "GraphitiPipeline": "pipeline",
    "GraphitiProjection": "projection",
    "HeldError": "guarded",
    "PackagedMiniLM": "embedder",
    "RebuildReport": "rebuilding",
    "RecordedFact": "recorded",
    "RecordedLLM": "recorded",
    "Speakers": "speech",
    "VectorReranker": "embedder",
    "driver_at": "servers",
    "gate_graphiti": "wrap",
    "graphiti_pipeline": "pipeline",
    "rebuild": "rebuilding",
}

__all__ = [
    "BlockingGraphiti",
    "EmbeddedFalkorDB",
    "EpisodeHook",
    "GatedBulkEpisodeResults",
    "GatedEpisode",
    "GatedEpisodeResults",
    "GatedGraphiti",
    "GatedTripletResults",
    "GraphitiPipeline",
    "GraphitiProjection",
    "HeldError",
    "PackagedMiniLM",
    "RebuildReport",
    "RecordedFact",
    "RecordedLLM",
    "Speakers",
    "VectorReranker",
    "driver_at",
    "gate_graphiti",
    "graphiti_pipeline",
    "rebuild",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'memgate_graphiti' has no attribute {name!r}")
    return getattr(import_module(f"memgate_graphiti.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
