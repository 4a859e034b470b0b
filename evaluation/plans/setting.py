"""How a pipeline is set up: which extraction, which gate, which matcher."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from evaluation.plans.format import Style

Extraction = Literal["recorded:literal", "recorded:cautious", "local", "llm"]
GateMode = Literal["on", "off", "plan-typed"]
Reading = Literal["refresh", "strict"]
MatcherName = Literal["full", "no_retry", "names", "names_no_retry", "permissive"]
MemoryName = Literal["none", "mem0", "graphiti", "langchain"]


class ModelAccess(BaseModel):
    """An OpenAI-compatible service."""

    model_config = ConfigDict(frozen=True)

    url: str
    name: str | None = None
    key: SecretStr | None = None

    def gate_options(self) -> dict[str, Any]:
        """As options of `MemoryGate.open`."""
        key = self.key.get_secret_value() if self.key else None
        return {"model": self.url, "model_options": {"name": self.name, "api_key": key}}


class Setting(BaseModel):
    """One pipeline.

    `gate`: on; off (every matched tuple commits); plan-typed (speculation is written, marked as a
    plan and hidden from reads, paper A.1). `reading`, plan-typed only: `refresh` lets a fact of the
    same value turn the plan into a fact, `strict` does not. `matcher`: `full` (names, plan-frame
    retry, meaning: the product's own), `no_retry` (names and meaning), `names` alone with the
    retry, `names_no_retry`, or `permissive` (files what the matcher declined under the registered
    field when it is at all likely). `reader`: gate on only; whether the gate also reads the
    registered field straight out of the words, as it does in use.
    """

    model_config = ConfigDict(frozen=True)

    name: str = ""
    extraction: Extraction = "recorded:literal"
    gate: GateMode = "on"
    reading: Reading = "refresh"
    matcher: MatcherName = "full"
    reader: bool = True
    classifier: str = "local"
    memory: MemoryName = "none"
    model: ModelAccess | None = Field(default=None, repr=False)
    """For extraction `llm`, and for classifiers that ask a model."""
    asked_style: Style = "literal"
    """Extraction `llm` only: how the model writes down what is not settled."""

    def gate_options(self) -> dict[str, Any]:
        """The model that the classifier asks, as options of `MemoryGate.open`; none where it asks
        none."""
        if self.model is None or self.classifier == "local":
            return {}
        return self.model.gate_options()

    @property
    def style(self) -> Style | None:
        """The recorded style, if the extraction is a recorded one."""
        if self.extraction == "recorded:literal":
            return "literal"
        return "cautious" if self.extraction == "recorded:cautious" else None


def standard() -> list[Setting]:
    """The pipelines of the paper's tables: two styles, gate off and on, plan-typed, ablations.

    The paper's pipelines all match by meaning, and the plan-frame retry belongs to its gated one
    (section 4): ours match so too. Meaning settles here what the retry would, so that what the
    retry does is measured where names alone are matched, and no reader finds the field either.
    """
    return [setting for style in ("cautious", "literal") for setting in _of_style(style)]


def live(setting: Setting) -> Setting:
    """The same pipeline with a model in the recorded extractor's place, in the same style."""
    return setting.model_copy(update={"extraction": "llm", "asked_style": setting.style})


def _of_style(style: str) -> list[Setting]:
    base: dict[str, str] = {"extraction": f"recorded:{style}"}
    rows: list[tuple[str, dict[str, object]]] = [
        ("ungated", {"gate": "off", "matcher": "no_retry"}),
        ("gated", {"gate": "on"}),
        ("plan-typed refresh", {"gate": "plan-typed", "reading": "refresh"}),
        ("plan-typed strict", {"gate": "plan-typed", "reading": "strict"}),
        ("gated no-retry", {"gate": "on", "matcher": "no_retry"}),
        ("gated no-reader", {"gate": "on", "reader": False}),
        ("gated permissive", {"gate": "on", "matcher": "permissive"}),
        ("gated names with-retry", {"gate": "on", "matcher": "names", "reader": False}),
        ("gated names no-retry", {"gate": "on", "matcher": "names_no_retry", "reader": False}),
        ("ungated names with-retry", {"gate": "off", "matcher": "names"}),
        ("ungated names no-retry", {"gate": "off", "matcher": "names_no_retry"}),
    ]
    return [
        Setting.model_validate({**base, **rest, "name": f"{style} {name}"}) for name, rest in rows
    ]
