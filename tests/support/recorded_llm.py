"""A language model at the process boundary: it answers Mem0's extraction prompt from recordings.

Recordings map a sentence to the memory texts that a model made of it. Only sentences that stand in
the prompt's new messages are answered, unless the model is leaky: then it also extracts from the
last messages, as real models do now and then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mem0.llms.base import LLMBase

_NEW = re.compile(r"\n## New Messages\n(.*)\n\n## Observation Date\n", re.DOTALL)
_LAST = re.compile(r"## Last k Messages\n(.*)\n\n## Recently Extracted", re.DOTALL)
_OBSERVED = re.compile(r"\n## Observation Date\n([^\n]*)\n\n## Current Date\n")


class RecordedLLM(LLMBase):  # type: ignore[misc]
    """Answers from `recordings`; keeps every prompt it saw; raises `fault` once if it is set."""

    def __init__(self, recordings: Mapping[str, Sequence[str]], *, leaky: bool = False) -> None:
        super().__init__()
        self.recordings, self.leaky = dict(recordings), leaky
        self.prompts: list[str] = []
        self.fault: Exception | None = None
        self.raw_answer: str | None = None
        """Answered instead of JSON, for malformed answers."""

    def generate_response(
        self, messages: Any, tools: Any = None, tool_choice: str = "auto", **options: Any
    ) -> Any:
        prompt = str(messages[-1]["content"])
        self.prompts.append(prompt)
        if self.fault is not None:
            fault, self.fault = self.fault, None
            raise fault
        if tools or "response_format" not in options:
            return f"summary of {len(messages)} messages ({tool_choice})"
        if self.raw_answer is not None:
            return self.raw_answer
        return json.dumps({"memory": self._memories(prompt)})

    @property
    def observation_date(self) -> str:
        """The date that the last prompt gave."""
        found = _OBSERVED.search(self.prompts[-1])
        assert found is not None
        return found.group(1)

    def saw(self, words: str) -> bool:
        """True when any prompt held these words."""
        return any(words.lower() in prompt.lower() for prompt in self.prompts)

    def _memories(self, prompt: str) -> list[dict[str, str]]:
        read = _part(_NEW, prompt) + (_part(_LAST, prompt) if self.leaky else "")
        texts = [
            text
            for sentence, extracted in self.recordings.items()
            if sentence.lower() in read.lower()
            for text in extracted
        ]
        return [
            {"id": str(at), "text": text, "attributed_to": "user"} for at, text in enumerate(texts)
        ]


def _part(pattern: re.Pattern[str], prompt: str) -> str:
    found = pattern.search(prompt)
    return found.group(1) if found else ""
