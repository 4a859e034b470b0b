"""A language model for Mem0 that answers its extraction prompt from recorded extractions.

It stands where a model would, at the process boundary: Mem0's own code builds the prompt, parses
the answer, embeds and stores. It can only answer for words that stand in the prompt's new
messages, so what a gate kept out of the prompt it cannot bring back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mem0.llms.base import LLMBase

from evaluation.plans.format import Extraction

_NEW_MESSAGES = re.compile(r"## New Messages\n(.*?)\n\n## Observation Date", re.DOTALL)


class RecordedMem0LLM(LLMBase):  # type: ignore[misc]
    """Extracts what was recorded, for the words it is shown."""

    def __init__(self, recorded: Iterable[Extraction]) -> None:
        super().__init__(None)
        self._recorded = list(recorded)
        self.calls = 0

    def generate_response(
        self,
        messages: Sequence[Mapping[str, Any]],
        *_: Any,
        **__: Any,
    ) -> str:
        """The recorded memories whose words stand in the prompt's new messages, as Mem0's JSON."""
        self.calls += 1
        found = _NEW_MESSAGES.search(str(messages[-1].get("content", "")))
        shown = found.group(1) if found else ""
        memories = [
            {"text": one.text, "attributed_to": "user"}
            for one in self._recorded
            if one.span and _shows(shown, one.span)
        ]
        return json.dumps({"memory": memories}, ensure_ascii=False)


def _shows(shown: str, words: str) -> bool:
    return words in shown or json.dumps(words, ensure_ascii=False)[1:-1] in shown
