"""The one registered field of a conversation or a case, as a service would register it."""

from __future__ import annotations

from functools import cache

from memgate_core.fields.catalogue import FieldCatalogue
from memgate_core.model import FieldSpec


def registered(attribute: str, description: str) -> FieldSpec:
    """The catalogue's field of the same name, else one from name and description alone.

    No value takes part (paper A.6).
    """
    known = _catalogue().get(attribute)
    if known is not None:
        return known.model_copy(update={"attribute": attribute, "description": description})
    return FieldSpec(attribute=attribute, description=description)


@cache
def _catalogue() -> FieldCatalogue:
    return FieldCatalogue.default()
