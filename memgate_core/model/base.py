"""What all domain models share: frozen, closed to unknown keys, times in UTC."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict

USER_ENTITY = "user"
"""The entity name of the subject himself or herself; any other entity is somebody else."""


def _to_utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


Instant = Annotated[AwareDatetime, AfterValidator(_to_utc)]
"""An aware datetime, normalised to UTC."""


def sha256_of(text: str) -> str:
    """Hex SHA-256 of the text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


class Model(BaseModel):
    """Frozen, closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# --- who and where -------------------------------------------------------------------------
