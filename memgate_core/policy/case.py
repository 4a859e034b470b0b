"""What the rule matrix looks at: one candidate, reduced to the columns of the table."""

from __future__ import annotations

from enum import StrEnum

from memgate_core.model import EvidenceType, Model, Sensitivity, Source, Standing


class Relation(StrEnum):
    """How a candidate's value stands to the current value of its key."""

    NONE = "none"
    SAME = "same"
    DIFFERENT = "different"


class Case(Model):
    """One candidate as the matrix sees it. Every attribute is a column that a rule may test."""

    evidence: EvidenceType
    source: Source = Source.USER
    standing: Standing = Standing.OWN
    relation: Relation = Relation.NONE
    registered: bool = False
    """The candidate belongs to a registered field."""
    own_entity: bool = True
    """The candidate is about the subject, not about somebody or something else."""
    lasting: bool = True
    """The words assert an event or a state, rather than ask, thank, greet or request."""
    sensitivity: Sensitivity = Sensitivity.NORMAL
    exact: bool = True
    """The evidence was re-read and its hash and offsets agree."""
    inferred: bool = False
    """A conclusion of an extractor, not the user's own words for it."""
    doubtful: bool = False
    """Not judged speculation, yet too likely to be one to change a registered value."""
    unjudged: bool = False
    """A model that should have judged it failed."""
    tainted: bool = False
    secret: bool = False
    cross_tenant: bool = False
    valid: bool = True
    """False when the field's validator refused the value."""
    raced: bool = False
    """Another writer changed the key between judging and committing."""
    late: bool = False
    """The turn was spoken before the current value began: an older message arriving now."""
