"""One model at the end of an OpenAI-compatible url, asked one thing at a time by evaluations."""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from evaluation.plans.setting import ModelAccess
from memgate_core.errors import ModelFaultError
from memgate_core.judgement.counsel import reason_of
from memgate_core.judgement.ports.port import ModelPort, Question
from memgate_core.judgement.ports.recognise import port_to
from memgate_core.judgement.repair import json_object

T = TypeVar("T", bound=BaseModel)

TIMEOUT = 60.0
"""Seconds that one question may take."""


class Asker:
    """Counts what it asks."""

    def __init__(self, access: ModelAccess) -> None:
        """Raises:
        ConfigurationError: the url cannot be used.
        """
        key = access.key.get_secret_value() if access.key else None
        self._port: ModelPort = port_to(access.url, name=access.name, api_key=key)
        self.calls = 0

    @property
    def name(self) -> str:
        """The model's name."""
        return self._port.name

    def ask(self, system: str, material: object, form: type[T]) -> T:
        """The answer in the form that was asked for.

        Raises:
            ModelFaultError: the model failed, or answered outside the form.
        """
        self.calls += 1
        text = json.dumps(material, ensure_ascii=False, indent=1)
        try:
            reply = self._port.ask(
                Question(system=system, material=text, answer=form), timeout=TIMEOUT
            )
            return form.model_validate(json_object(reply.content))
        except ValidationError as fault:
            raise ModelFaultError("the model's answer has another form than was asked") from fault
        except ModelFaultError:
            raise
        except Exception as fault:  # whatever the model's client raises
            raise ModelFaultError(reason_of(fault)) from fault
