"""The plan-to-outcome form: one conversation a line, with labels that no pipeline sees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import AwareDatetime, BaseModel, Field

from evaluation.jsonl import Record
from evaluation.words import Words

Style = Literal["literal", "cautious"]
"""The paper's two extraction styles: plans recorded as facts, or as plans (section 4)."""

Kind = Literal["core", "heldout", "hedge", "confirm", "control_completed", "control_correction"]
Outcome = Literal["came_true", "abandoned", "open", "completed", "corrected"]
Hedge = Literal["strong", "weak", "confident_undated", "scheduled_dated"]
Wording = Literal["verbatim", "paraphrase", "oblique", "situational"]
Mark = Literal["state", "plan", "reminder", "outcome"]


class Extraction(Record):
    """What a recorded extractor proposed for a turn."""

    entity: str = "user"
    attribute: str | None = None
    value: str | None = None
    text: str
    span: str | None = None
    """The exact words of the turn that it rests on."""


class Extractions(Record):
    """Recorded outputs in both styles."""

    literal: tuple[Extraction, ...] = ()
    cautious: tuple[Extraction, ...] = ()


class ConversationTurn(Record):
    """One message. `mark` is a label."""

    role: Literal["user", "assistant", "tool", "system"]
    content: Words
    mark: Mark | None = None
    extractions: Extractions = Extractions()


class Session(Record):
    """Messages of one sitting."""

    date: AwareDatetime
    turns: list[ConversationTurn] = Field(min_length=1)


class TrackedField(Record):
    """The registered field that the conversation is about. Its description names no value."""

    entity: str = "user"
    attribute: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str = Field(min_length=1)


class Conversation(Record):
    """A conversation in which a plan for one field is voiced and, perhaps, settled.

    Everything but id, field, probe and sessions is a label; a file without labels can be run,
    but not scored.
    """

    id: Words
    field: TrackedField
    sessions: list[Session] = Field(min_length=1)
    probe: str = ""
    kind: Kind | None = None
    initial_value: str | None = None
    plan_value: str | None = None
    outcome: Outcome | None = None
    hedge_level: Hedge | None = None
    confirm_level: Wording | None = None
    final_value: str | None = None

    def steps(self) -> Iterator[Step]:
        """All turns in order, with their place."""
        index = 0
        for number, session in enumerate(self.sessions):
            for turn in session.turns:
                yield Step(index=index, session=number, date=session.date, turn=turn)
                index += 1

    def marked(self, mark: Mark) -> int | None:
        """Index of the first user turn with this mark."""
        return next((s.index for s in self.steps() if s.is_user and s.turn.mark == mark), None)

    @property
    def at_risk(self) -> bool:
        """True for a plan that never came true: abandoned, or still open (paper section 1)."""
        return self.outcome in ("abandoned", "open")


class Step(BaseModel):
    """One turn in its place. `index` counts all turns of the conversation from 0."""

    index: int
    session: int
    date: AwareDatetime
    turn: ConversationTurn

    @property
    def is_user(self) -> bool:
        """True for the user's own turns: only these are traced."""
        return self.turn.role == "user"

    def recorded(self, style: Style) -> tuple[Extraction, ...]:
        """The recorded extractor's output in one style."""
        extractions = self.turn.extractions
        return extractions.literal if style == "literal" else extractions.cautious


Conversation.model_rebuild()
