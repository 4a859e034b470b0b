"""What the gated calls return: Graphiti's own results, with the receipts beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from graphiti_core.graphiti import AddBulkEpisodeResults, AddEpisodeResults, AddTripletResults
from pydantic import BaseModel

from memgate_core.model import DecisionType, JsonObject, Receipt

R = TypeVar("R", bound=BaseModel)

_EMBEDDINGS: dict[str, Any] = {
    "nodes": {"__all__": {"name_embedding"}},
    "edges": {"__all__": {"fact_embedding"}},
    "communities": {"__all__": {"name_embedding"}},
}


class Gated(BaseModel):
    """What the gate did with the words of a call."""

    receipts: list[Receipt] = []
    """One a turn, in order."""
    ingested: bool = True
    """False when nothing was left to say: Graphiti was not called at all."""
    replayed: bool = False
    """True when the same message id came before: this is the first call's result."""
    undelivered: int = 0
    """Promotions, closings and the like that the graph has not taken yet; they are retried."""

    def say(self) -> str:
        """A truthful sentence an assistant may voice: never "saved" for what is held."""
        said = [text for r in self.receipts if (text := r.say()) != "nothing to remember"]
        return "; ".join(said) if said else "nothing to remember"

    @property
    def held(self) -> list[str]:
        """Ids of the items that these words put, or put again, among the held ones."""
        ids = [judged.staged_id for r in self.receipts for judged in r.judged if judged.staged_id]
        return list(dict.fromkeys(ids))

    @property
    def refused(self) -> list[str]:
        """Reasons for which words were refused outright."""
        return [
            judged.decision.reason
            for receipt in self.receipts
            for judged in receipt.judged
            if judged.decision.decision is DecisionType.REJECT
        ]


class GatedEpisodeResults(AddEpisodeResults, Gated):  # type: ignore[misc]
    """An `AddEpisodeResults`. Where nothing was ingested, `episode` was never stored."""


class GatedBulkEpisodeResults(AddBulkEpisodeResults, Gated):  # type: ignore[misc]
    """An `AddBulkEpisodeResults`, without the episodes that had nothing left to say."""


class GatedTripletResults(AddTripletResults, Gated):  # type: ignore[misc]
    """An `AddTripletResults`; empty where the triplet was held or refused."""


def widened(kind: type[R], result: BaseModel, receipts: Sequence[Receipt], **more: Any) -> R:
    """Graphiti's result as our own kind; its parts stay the very same objects."""
    parts = {name: getattr(result, name) for name in type(result).model_fields}
    return kind.model_construct(**{"replayed": False, **parts, "receipts": list(receipts), **more})


def recorded(result: BaseModel) -> JsonObject:
    """A result as the ledger keeps it: without vectors and without the receipts it has anyway."""
    shown: JsonObject = result.model_dump(
        mode="json",
        exclude={
            **{
                name: _EMBEDDINGS[name] for name in _EMBEDDINGS if name in type(result).model_fields
            },
            "receipts": True,
            "replayed": True,
            "undelivered": True,
        },
    )
    return shown


def replayed(kind: type[R], kept: JsonObject, receipts: Sequence[Receipt]) -> R:
    """The result that a recorded answer stands for."""
    return kind.model_validate({**kept, "receipts": list(receipts), "replayed": True})
