"""A model recorded at the HTTP boundary: what it would say to each of the evaluation's questions.

A real service on a loopback port speaks the chat completions protocol; the recordings answer by
the form that a request asks for. Requests for evidence types, standings and fields are filled in
by rule (tests/backends/scripted.py).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.backends.scripted import kind_of, sheet
from tests.backends.service import Answer, running

Material = Mapping[str, Any]


@dataclass
class RecordedModel:
    """Answers by form, and keeps what it was asked."""

    url: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    materials: dict[str, list[Material]] = field(default_factory=dict)
    fails: Callable[[str, int], bool] = lambda _form, _number: False
    """Whether the so-many-th question of a form is answered with nonsense."""
    wavers: Callable[[int], bool] = lambda _number: False
    """Whether the so-many-th sheet calls everything `other`."""

    def say(self, body: Mapping[str, Any]) -> str:
        """The assistant's text."""
        material = _material(body)
        form = body["response_format"]["json_schema"]["name"]
        self.asked[form] += 1
        self.materials.setdefault(form, []).append(material)
        if self.fails(form, self.asked[form]):
            return "I would rather not say."
        return json.dumps(self._found(form, material))

    def _found(self, form: str, material: Material) -> Any:
        if form == "Compared":
            return {"same": _same(material)}
        if form == "Answered":
            return {"answer": next(iter(material["memory"]), None)}
        if form == "Probability":
            # surest of all that a plan is true, as a model is that asks no more than what was said
            return {"probability": 0.9 if kind_of(material["words"]) == "speculation" else 0.6}
        if form == "Extractions":
            return {"extractions": [_extracted(material["message"])]}
        found = sheet(dict(material))
        if self.wavers(self.asked[form]):
            for row in found["statements"]:
                row["type"] = "other"
        return found


def _same(material: Material) -> bool:
    other = str(material["other"]).casefold()
    return str(material["reference"]).casefold() in other and "considering" not in other


def _extracted(message: str) -> Material:
    words = message.rstrip(".")
    return {
        "entity": "user",
        "attribute": "home_city",
        "value": words.split()[-1],
        "text": words,
        "span": words,
    }


def _material(body: Mapping[str, Any]) -> Material:
    text = str(body["messages"][-1]["content"])
    found: Material
    found, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    return found


@contextmanager
def recorded_model() -> Iterator[RecordedModel]:
    """The running service."""
    model = RecordedModel()
    with running() as service:
        service.reply = lambda body: Answer(content=model.say(body))
        model.url = service.url
        yield model
