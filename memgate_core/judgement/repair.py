"""Gets the JSON object out of what a model wrote: fences, prose around it, small slips, cut ends.

Repair never invents an answer: rows are checked one by one afterwards, and what does not parse to
an object at all is a fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from memgate_core.errors import ConfigurationError, ModelFaultError
from memgate_core.model import JsonObject

_FENCE = re.compile(r"```(?:json)?\s*(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


def json_object(answer: object) -> JsonObject:
    """The JSON object in a model's answer (text, or already parsed).

    Raises:
        ModelFaultError: there is none: prose, a refusal, an empty answer, a bare list or number.
        ConfigurationError: the json-repair package is needed and not installed.
    """
    if isinstance(answer, Mapping):
        return dict(answer)
    if not isinstance(answer, str):
        raise ModelFaultError(f"the model answered {type(answer).__name__}, not JSON")
    text = _THOUGHT.sub("", answer).strip()
    if not text:
        raise ModelFaultError("the model's answer is empty")
    if "{" not in text:
        raise ModelFaultError("the model answered in prose, not JSON (a refusal, perhaps)")
    fenced = _FENCE.search(text)
    found = _parsed((fenced.group(1) if fenced else text).strip())
    if not isinstance(found, dict):
        raise ModelFaultError("the model's answer holds no JSON object")
    return found


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return _repaired(text[text.find("{") :])


def _repaired(text: str) -> object:
    try:
        import json_repair
    except ImportError:
        raise ConfigurationError(
            "mending a model's JSON needs json-repair", hint="pip install 'agentmemgate[llm]'"
        ) from None
    found: object = json_repair.loads(text)
    return found
