"""Whose memory a LangGraph namespace is, and where a subject's memories lie.

LangGraph leaves the meaning of a namespace to its user. The usual form is `("memories", user_id)`,
with more labels behind it for parts of that user's memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memgate_core.intake import subject_of
from memgate_core.model import Subject

_ESCAPES = (("%", "%25"), (".", "%2E"))
"""LangGraph takes no dots in labels; user ids such as e-mail addresses have them."""


@dataclass(frozen=True)
class Namespaces:
    """Reads and builds namespaces of the form `(*prefix, user_id, …)`."""

    prefix: tuple[str, ...] = ("memories",)
    """Labels before the user id in what the gate itself writes."""
    user_at: int = 1
    """Where the user id stands; in a shorter namespace the last label counts."""
    tenant: str = "default"
    ungated: tuple[tuple[str, ...], ...] = ()
    """Prefixes whose items are nobody's memory (documents, caches): they pass untouched."""

    def gates(self, namespace: Sequence[str]) -> bool:
        """False for namespaces that were named as nobody's memory."""
        labels = tuple(namespace)
        return not any(labels[: len(prefix)] == prefix for prefix in self.ungated)

    def subject_of(self, namespace: Sequence[str]) -> Subject:
        """Whose memory a namespace is.

        Raises:
            InvalidTurnError: the namespace is empty, so it is nobody's.
        """
        labels = tuple(namespace)
        label = labels[min(self.user_at, len(labels) - 1)] if labels else None
        return subject_of(_unescaped(label) if label else None, tenant=self.tenant)

    def namespace_of(self, subject: Subject) -> tuple[str, ...]:
        """Where the gate writes a subject's memories."""
        tenant = () if subject.tenant == self.tenant else (_escaped(subject.tenant),)
        actor = () if subject.actor is None else (_escaped(subject.actor),)
        return (*self.prefix, *tenant, _escaped(subject.user_id), *actor)


def _escaped(label: str) -> str:
    for plain, written in _ESCAPES:
        label = label.replace(plain, written)
    return label


def _unescaped(label: str) -> str:
    for plain, written in reversed(_ESCAPES):
        label = label.replace(written, plain)
    return label
