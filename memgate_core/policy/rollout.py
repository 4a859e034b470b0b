"""How far the gate's decisions reach: watch only, a part of the low-risk keys, or everything.

The share of keys in a canary is stable: a key's hash decides, so that raising the percentage adds
keys and never swaps them (article: open up 5 % of low-risk keys first).
"""

from __future__ import annotations

import hashlib
from enum import StrEnum

from pydantic import Field

from memgate_core.errors import ConfigurationError
from memgate_core.model import FieldKey, FieldSpec, Model, Sensitivity

_BUCKETS = 10_000


class Mode(StrEnum):
    """How far decisions reach."""

    SHADOW = "shadow"
    """Record only: frameworks get every write unchanged, nothing is held or kept here."""
    CANARY = "canary"
    """A stable percentage of low-risk keys; the rest as in shadow."""
    ON = "on"


class Reach(Model):
    """The rollout in force for one turn."""

    mode: Mode = Mode.ON
    percent: float = Field(default=0.0, ge=0.0, le=100.0)
    """With `canary`: share of low-risk keys."""
    tripped: str | None = None
    """Why commits were stopped, if they were: then as in shadow."""

    @property
    def commits(self) -> bool:
        """False when nothing at all may be written."""
        return self.mode is not Mode.SHADOW and self.tripped is None

    @property
    def everywhere(self) -> bool:
        """True when every decision has effects."""
        return self.mode is Mode.ON and self.tripped is None

    def acts(self, key: FieldKey, field: FieldSpec | None) -> bool:
        """True when a decision on this key has effects."""
        if not self.commits:
            return False
        if self.mode is Mode.ON:
            return True
        return is_low_risk(field) and bucket_of(key) < self.percent * _BUCKETS / 100


def is_low_risk(field: FieldSpec | None) -> bool:
    """True for a registered field of low sensitivity; what an open key is about is unknown."""
    return field is not None and field.sensitivity is Sensitivity.LOW


def bucket_of(key: FieldKey) -> int:
    """Where a key stands among 10,000 equal parts: the same for ever, on every machine."""
    names = (
        key.subject.tenant,
        key.subject.subject_id,
        key.scope.kind,
        key.scope.key,
        key.kind.value,
        key.normalized_key,
    )
    joined = "".join(f"{len(name)}:{name}" for name in names)
    digest = hashlib.sha256(joined.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % _BUCKETS


def mode_of(name: str) -> Mode:
    """The mode of that name.

    Raises:
        ConfigurationError: there is none.
    """
    try:
        return Mode(name)
    except ValueError:
        raise ConfigurationError(
            f"rollout mode {name!r} is unknown", hint=f"one of {', '.join(Mode)}"
        ) from None
