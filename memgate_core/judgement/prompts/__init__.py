"""The model backends' prompts: one file a task and version, never edited once released.

A changed wording gets the next version number; judgements name the version that made them.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from memgate_core.errors import ConfigurationError

_NAME = re.compile(r"(?P<task>[a-z_]+)\.v(?P<version>\d+)\.md")


@cache
def prompt(task: str) -> str:
    """The newest wording of a task's prompt.

    Raises:
        ConfigurationError: there is no prompt for such a task.
    """
    name = f"{task}.v{version(task)}.md"
    return files(__package__).joinpath(name).read_text(encoding="utf-8").strip()


@cache
def version(task: str) -> int:
    """The number of the newest wording.

    Raises:
        ConfigurationError: there is no prompt for such a task.
    """
    found = [
        int(match["version"])
        for entry in files(__package__).iterdir()
        if (match := _NAME.fullmatch(entry.name)) and match["task"] == task
    ]
    if not found:
        raise ConfigurationError(f"there is no prompt for the task {task!r}")
    return max(found)
