"""`RecordedLLM`: answers Graphiti's prompts from recorded extractions, with no model at hand.

It stands where a model's process would: every prompt that Graphiti sends while it ingests is
answered from facts that were recorded for the words of the episode. A fact is given only when the
words it rests on stand in the message that the prompt shows, so it never knows more than a model
in its place could have read. Used by `memgate run --extraction recorded:…`, the demo and tests.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphiti_core.llm_client import LLMClient
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.prompts.models import Message

Answer = dict[str, Any]


@dataclass(frozen=True)
class RecordedFact:
    """One extraction: a fact between two named things, and the exact words that it rests on."""

    source: str
    relation: str
    target: str
    fact: str
    words: str
    attribute: str | None = None
    """Facts of one source with the same attribute and different targets contradict each other."""
    valid_at: str | None = None
    """ISO 8601; None stands for the reference time of the episode."""

    @classmethod
    def of(cls, extraction: Mapping[str, Any]) -> RecordedFact:
        """From an extraction of the conversations format (keys entity, attribute, value, text,
        span)."""
        attribute = str(extraction["attribute"])
        return cls(
            source=str(extraction.get("entity") or "user"),
            relation=attribute.upper(),
            target=str(extraction["value"]),
            fact=str(extraction["text"]),
            words=str(extraction["span"]),
            attribute=attribute,
        )


class RecordedLLM(LLMClient):  # type: ignore[misc]
    """A Graphiti LLM client that recalls instead of thinking. `learn` adds recordings."""

    def __init__(self, facts: Iterable[RecordedFact] = ()) -> None:
        super().__init__(LLMConfig(model="recorded"))
        self.facts: list[RecordedFact] = list(facts)
        self.calls: list[str] = []
        """Names of the prompts that were answered, in order."""

    def learn(self, facts: Iterable[RecordedFact]) -> None:
        """Adds recordings."""
        self.facts += facts

    async def generate_response(
        self,
        messages: list[Message],
        response_model: Any = None,  # noqa: ARG002
        max_tokens: int | None = None,  # noqa: ARG002
        model_size: Any = None,  # noqa: ARG002
        group_id: str | None = None,  # noqa: ARG002
        prompt_name: str | None = None,
        **_rest: Any,
    ) -> Answer:
        self.calls.append(prompt_name or "")
        answer = _ANSWERS.get(prompt_name or "")
        return answer(self, messages[-1].content) if answer is not None else {}

    async def _generate_response(self, *_args: Any, **_kwargs: Any) -> Answer:
        return {}

    # --- what each prompt is asking --------------------------------------------------------

    def _entities(self, prompt: str) -> Answer:
        names = [name for fact in self._read_in(prompt) for name in (fact.source, fact.target)]
        unique = dict.fromkeys(names)
        return {"extracted_entities": [{"name": n, "entity_type_id": 0} for n in unique]}

    def _edges(self, prompt: str) -> Answer:
        at = _section(prompt, "REFERENCE_TIME").split("#")[0].strip()
        return {"edges": [_edge(fact, at) for fact in self._read_in(prompt)]}

    def _both(self, prompt: str) -> Answer:
        return {**self._entities(prompt), **self._edges(prompt)}

    def _same_entities(self, prompt: str) -> Answer:
        known = {_plain(e["name"]): e["candidate_id"] for e in _listed(prompt, "EXISTING ENTITIES")}
        return {
            "entity_resolutions": [
                {
                    "id": entity["id"],
                    "name": entity["name"],
                    "duplicate_candidate_id": known.get(_plain(entity["name"]), -1),
                }
                for entity in _listed(prompt, "ENTITIES")
            ]
        }

    def _same_facts(self, prompt: str) -> Answer:
        new = _section(prompt, "NEW FACT")
        existing = _listed(prompt, "EXISTING FACTS")
        others = _listed(prompt, "FACT INVALIDATION CANDIDATES")
        return {
            "duplicate_facts": [e["idx"] for e in existing if _plain(e["fact"]) == _plain(new)],
            "contradicted_facts": [
                e["idx"] for e in (*existing, *others) if self._contradict(e["fact"], new)
            ],
        }

    def _dates(self, prompt: str) -> Answer:
        return {"valid_at": self._date_of(_section(prompt, "FACT"), prompt), "invalid_at": None}

    def _batch_dates(self, prompt: str) -> Answer:
        listed = _listed(prompt, "FACTS")
        return {
            "timestamps": [
                {"valid_at": self._recorded_date(e["fact"]) or e["reference_time"]} for e in listed
            ]
        }

    def _summary(self, prompt: str) -> Answer:
        facts = dict.fromkeys(fact.fact for fact in self._read_in(prompt))
        told = dict.fromkeys(fact.fact for fact in self.facts if fact.fact in prompt)
        return {"summary": " ".join({**facts, **told}), "description": " ".join(told)[:100]}

    def _summaries(self, prompt: str) -> Answer:
        entities = _listed(prompt, "ENTITIES")
        summaries = [
            {"name": e["name"], "summary": self._about(e["name"], prompt)} for e in entities
        ]
        return {"summaries": [entry for entry in summaries if entry["summary"]]}

    # --- parts -----------------------------------------------------------------------------

    def _read_in(self, prompt: str) -> list[RecordedFact]:
        shown = _current(prompt)
        return [fact for fact in self.facts if fact.words in shown]

    def _about(self, name: str, prompt: str) -> str:
        facts = [f.fact for f in self.facts if f.words in prompt and name in (f.source, f.target)]
        return "\n".join(dict.fromkeys(facts))

    def _date_of(self, fact: str, prompt: str) -> str:
        return self._recorded_date(fact) or _section(prompt, "REFERENCE TIME")

    def _recorded_date(self, fact: str) -> str | None:
        return next((f.valid_at for f in self.facts if f.fact == fact.strip()), None)

    def _contradict(self, old: str, new: str) -> bool:
        one, other = self._named(old), self._named(new)
        return (
            one is not None
            and other is not None
            and one.attribute is not None
            and (one.source, one.attribute) == (other.source, other.attribute)
            and _plain(one.target) != _plain(other.target)
        )

    def _named(self, fact: str) -> RecordedFact | None:
        return next((f for f in self.facts if _plain(f.fact) == _plain(fact)), None)


_ANSWERS: dict[str, Callable[[RecordedLLM, str], Answer]] = {
    "extract_nodes.extract_message": RecordedLLM._entities,
    "extract_nodes.extract_text": RecordedLLM._entities,
    "extract_nodes.extract_json": RecordedLLM._entities,
    "extract_edges.edge": RecordedLLM._edges,
    "extract_nodes_and_edges.extract_message": RecordedLLM._both,
    "dedupe_nodes.nodes": RecordedLLM._same_entities,
    "dedupe_edges.resolve_edge": RecordedLLM._same_facts,
    "extract_edges.extract_timestamps": RecordedLLM._dates,
    "extract_edges.extract_timestamps_batch": RecordedLLM._batch_dates,
    "extract_nodes.extract_summaries_batch": RecordedLLM._summaries,
    "extract_nodes.extract_entity_summaries_from_episodes": RecordedLLM._summaries,
    "summarize_nodes.summarize_pair": RecordedLLM._summary,
    "summarize_nodes.summary_description": RecordedLLM._summary,
    "summarize_sagas.summarize_saga": RecordedLLM._summary,
}

_CURRENT_TAGS = ("CURRENT_MESSAGE", "CURRENT MESSAGE", "CURRENT MESSAGES", "TEXT", "JSON")


def _current(prompt: str) -> str:
    """What the prompt shows as the message to extract from; all of it where it marks none."""
    for tag in _CURRENT_TAGS:
        if found := _section(prompt, tag):
            return found
    return prompt


def _section(prompt: str, tag: str) -> str:
    found = re.search(
        rf"^\s*<{re.escape(tag)}>\n(.*?)\n\s*</{re.escape(tag)}>", prompt, re.S | re.M
    )
    return found.group(1).strip() if found else ""


def _listed(prompt: str, tag: str) -> Sequence[dict[str, Any]]:
    """A list that a prompt shows, as JSON or as Python writes it."""
    shown = _section(prompt, tag)
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(shown)
        except (ValueError, SyntaxError):
            continue
        return [entry for entry in found if isinstance(entry, dict)]
    return ()


def _edge(fact: RecordedFact, reference_time: str) -> Answer:
    return {
        "source_entity_name": fact.source,
        "target_entity_name": fact.target,
        "relation_type": fact.relation,
        "fact": fact.fact,
        "valid_at": fact.valid_at or reference_time.replace(" ", "T") or None,
        "invalid_at": None,
        "episode_indices": [0],
    }


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
