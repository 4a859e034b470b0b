"""`python -m evaluation.demo [CHAT.jsonl]`: Mem0 alone and behind the gate, on the same chat."""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from evaluation.demo import screen
from evaluation.demo.chat import OWN, Message, Question, chat
from evaluation.demo.mem0_pair import Mem0Pair
from evaluation.plans.format import Extraction
from memgate_core.errors import InvalidInputError, MemgateError
from memgate_core.model import Fact, FactStatus


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the demonstration; returns the exit status (2: a chat file that cannot be read)."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("chat", nargs="?", type=Path, default=OWN, help="a chat of your own")
    parser.add_argument("--no-graph", action="store_true", help="leave the Graphiti part out")
    options = parser.parse_args(arguments)
    started = perf_counter()
    try:
        lines = list(chat(options.chat))
        with _quiet(), tempfile.TemporaryDirectory(prefix="memgate-demo-") as folder:
            _mem0(Path(folder), lines, own=options.chat == OWN)
            if not options.no_graph:
                _graph(Path(folder), lines)
    except InvalidInputError as fault:
        print(f"demo: {fault}", file=sys.stderr)
        return 2
    except MemgateError as fault:
        print(f"demo: {fault}", file=sys.stderr)
        return 1
    screen.say(f"\n{perf_counter() - started:.0f} seconds, no key, no network, no model asked.")
    return 0


@contextmanager
def _quiet() -> Iterator[None]:
    """Frameworks log on their own account; what matters here is what the screen shows."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _mem0(folder: Path, lines: Sequence[Message | Question], *, own: bool) -> None:
    recorded = [e for line in lines if isinstance(line, Message) for e in line.extracted or ()]
    _introduce(recorded, own)
    users = list(dict.fromkeys(line.user for line in lines))
    with Mem0Pair(folder, recorded) as pair:
        _talk(pair, lines)
        screen.heading("What stays held, and how it came to be")
        screen.held([item for user in users for item in pair.gate.profile(user).staged()])
        _timeline(pair, users)
        if not any(isinstance(line, Question) for line in lines):
            _listing(pair, users)


def _introduce(recorded: Sequence[Extraction], own: bool) -> None:
    screen.heading("One chat, two memories: Mem0 alone, and the same Mem0 behind the gate")
    if recorded:
        screen.say(
            "Both are real Mem0 on embedded Qdrant. No model is at hand, so what Mem0's extractor"
            " writes for each message was recorded beforehand, as a literal extractor writes it."
        )
    elif not own:
        screen.say(
            "Both are real Mem0 on embedded Qdrant, storing each message as it is (infer=False)."
        )
    screen.say("")


def _talk(pair: Mem0Pair, lines: Sequence[Message | Question]) -> None:
    asked: list[screen.Belief] = []
    moment = 0
    for line in lines:
        if isinstance(line, Question):
            alone, gated = pair.believes(line.user, line.text)
            asked.append((line, alone, gated))
            continue
        if asked:
            moment += 1
            _ask(asked, moment)
            asked = []
        screen.heard(line, pair.add(line))
    if asked:
        _ask(asked, moment + 1)


def _ask(asked: Sequence[screen.Belief], moment: int) -> None:
    screen.console.print()
    title = "While the plans are open" if moment == 1 else "What each memory believes now"
    screen.beliefs(title, asked)
    screen.console.print()


def _timeline(pair: Mem0Pair, users: Sequence[str]) -> None:
    """The field with the longest past; of several, one whose value changed and was never wrong."""
    pasts = [
        (user, attribute, pair.gate.profile(user).history(attribute))
        for user in users
        for attribute in {f.attribute for f in pair.gate.profile(user).facts() if f.attribute}
    ]
    if pasts:
        user, attribute, facts = max(pasts, key=_telling)
        screen.timeline(f"{user}: {attribute.replace('_', ' ')} over time", facts)


def _telling(past: tuple[str, str, Sequence[Fact]]) -> tuple[int, int, str]:
    user, _attribute, facts = past
    return len(facts), sum(fact.status is FactStatus.SUPERSEDED for fact in facts), user


def _listing(pair: Mem0Pair, users: Sequence[str]) -> None:
    for user in users:
        alone, gated = pair.all_of(user)
        missing = [text for text in alone if text not in gated]
        screen.say(f"{user}: {len(alone)} memories alone, {len(gated)} behind the gate")
        for text in missing:
            screen.say(f"  only without the gate: {text}")


def _graph(folder: Path, lines: Sequence[Message | Question]) -> None:
    from evaluation.demo.graph_pair import available, show

    reason = available()
    screen.heading("The same in Graphiti, on an embedded FalkorDB")
    if reason is not None:
        screen.say(f"Left out: {reason}")
        return
    show(folder, lines)


if __name__ == "__main__":
    # what a framework's closed connections still say while the process ends belongs to no table
    logging.disable(logging.CRITICAL)
    sys.exit(main())
