"""The second line: what Mem0's own LLM extracts is judged again before Mem0 stores it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memgate_core.extracted import Extracted
from memgate_core.model import Subject
from memgate_mem0.calls import ActiveCall

_OBSERVED = re.compile(r"(\n## Observation Date\n)[^\n]*(?=\n\n## Current Date\n)")
_FENCE = re.compile(r"^```[a-zA-Z0-9]*\n(.*?)\n```$", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)

Judge = Callable[[Subject, Sequence[str], Sequence[str]], list[Extracted]]
"""`MemoryGate.judge_extracted`."""


class JudgingLlm:
    """The wrapped LLM during one add call. Every other attribute is the wrapped one's."""

    def __init__(self, llm: Any, call: ActiveCall, judge: Judge) -> None:
        self._llm, self._call, self._judge = llm, call, judge

    def __getattr__(self, name: str) -> Any:
        return getattr(self._llm, name)

    def generate_response(self, messages: Any, *rest: Any, **options: Any) -> Any:
        """As the wrapped LLM's; an extraction's answer comes back without what may not be stored.

        Calls that are no extraction (tools, pictures, summaries) pass untouched.
        """
        if not _is_extraction(rest, options):
            return self._llm.generate_response(messages, *rest, **options)
        dated = dated_prompt(messages, self._call)
        answer = self._llm.generate_response(dated, *rest, **options)
        return self._judged(answer) if self._call.judges else answer

    def _judged(self, answer: Any) -> Any:
        found = extracted_memories(answer)
        if found is None:
            return answer
        body, memories = found
        texts = [str(memory["text"]) for memory in memories]
        verdicts = self._judge(self._call.subject, self._call.message_ids, texts)
        self._call.verdicts.update({verdict.text: verdict for verdict in verdicts})
        kept = [m for m, verdict in zip(memories, verdicts, strict=True) if verdict.allowed]
        return json.dumps({**body, "memory": kept}, ensure_ascii=False)


def dated_prompt(messages: Any, call: ActiveCall) -> Any:
    """The extraction prompt with the turn's own day as observation date, where one was given."""
    if call.observed_on is None:
        return messages
    return [_dated(message, call.observed_on.isoformat()) for message in messages]


def extracted_memories(answer: Any) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
    """The answer's JSON and its memories that have a text; None where Mem0 will find none either.

    Mem0 reads a bare JSON object, one in a code fence, and one amid other words.
    """
    if not isinstance(answer, str):
        return None
    text = _THOUGHT.sub("", answer.strip())
    fenced = _FENCE.match(text.strip())
    for form in (fenced.group(1) if fenced else text, text[text.find("{") : text.rfind("}") + 1]):
        try:
            body = json.loads(form, strict=False)
        except ValueError:
            continue
        if isinstance(body, dict):
            return body, _with_text(body.get("memory"))
    return None


def _with_text(memories: Any) -> list[dict[str, Any]]:
    found = memories if isinstance(memories, list) else []
    return [
        m for m in found if isinstance(m, dict) and isinstance(m.get("text"), str) and m["text"]
    ]


def _is_extraction(rest: Sequence[Any], options: Mapping[str, Any]) -> bool:
    form = options.get("response_format")
    asks_json = isinstance(form, Mapping) and form.get("type") == "json_object"
    return asks_json and not rest and not options.get("tools")


def _dated(message: Any, day: str) -> Any:
    if not isinstance(message, Mapping) or message.get("role") != "user":
        return message
    content = str(message.get("content", ""))
    found = list(_OBSERVED.finditer(content))
    if not found:
        return message
    last = found[-1]  # a message that quotes the heading comes before the real one
    return {**message, "content": content[: last.end(1)] + day + content[last.end() :]}
