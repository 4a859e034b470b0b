"""The blocks of docs/langchain.md, run in order and as they stand."""

from pathlib import Path

import pytest

from tests.langchain.scripted_chat import says
from tests.support.docs import blocks

DOC = Path(__file__).parents[2] / "docs" / "langchain.md"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_block_runs() -> None:
    names: dict[str, object] = {"model": says("Nice."), "ledger_url": "sqlite://"}
    found = blocks(DOC)
    assert len(found) == 5
    for block in found:
        exec(compile(block, str(DOC), "exec"), names)
