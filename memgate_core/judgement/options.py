"""What can be set about a model backend."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from memgate_core.judgement.cascade import Sureness
from memgate_core.model import Model


class ModelOptions(Model):
    """How a gate uses its model. Every default is one that a small deployment can live with."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: str | None = None
    """The model's name at the service, where the model is given by url."""
    api_key: str | None = Field(default=None, repr=False)
    """Bearer token for the service, where the model is given by url."""
    timeout: float = Field(default=20.0, gt=0)
    """Seconds that one request may take, retries included; then its words are held."""
    calls_per_turn: int = Field(default=2, ge=0)
    calls_per_minute: int | None = Field(default=None, ge=0)
    """Over all turns of this process; None sets no limit."""
    cache: int = Field(default=4096, ge=0)
    """Answers kept in memory, by hash; 0 keeps none."""
    extraction: Literal["local", "literal", "cautious"] = "local"
    """Who proposes values where the caller brings no proposals: the local extractor alone, or the
    model too, in one of the paper's two styles (one more request a turn)."""
    sureness: Sureness = Sureness()
    """Cascade only: how much doubt the local judges may have before the model is asked."""
