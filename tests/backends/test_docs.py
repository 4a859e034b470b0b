"""The blocks of docs/backends.md, each run as it stands against a real HTTP service."""

from pathlib import Path

import pytest

from tests.backends.service import running
from tests.support.docs import blocks

DOC = Path(__file__).parents[2] / "docs" / "backends.md"


@pytest.mark.parametrize("number", range(3))
def test_each_block_runs(number: int) -> None:
    found = blocks(DOC)
    assert len(found) == 3
    with running() as service:
        exec(compile(found[number], str(DOC), "exec"), {"url": service.url})
