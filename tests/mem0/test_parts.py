"""Small parts by themselves: scopes, messages, payload texts, claims."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memgate_core.errors import InvalidTurnError
from memgate_core.model import Subject
from memgate_mem0.answers import Claim, claim, release
from memgate_mem0.llm_proxy import extracted_memories
from memgate_mem0.messages import history_before, read_messages
from memgate_mem0.payloads import readable
from memgate_mem0.scope import MemoryScope, scope_of_session_key
from tests.support.build import ANA
from tests.support.scripted import scripted_gate


@pytest.mark.parametrize(
    ("ids", "name"),
    [
        ({"user_id": "ana"}, "ana"),
        ({"user_id": " ana "}, "ana"),
        ({"user_id": 7}, "7"),
        ({"agent_id": "a"}, "agent:a"),
        ({"run_id": "r"}, "run:r"),
        ({"user_id": "run:r"}, "user:run:r"),
    ],
)
def test_a_scope_and_its_subject_are_two_ways(ids: dict[str, str], name: str) -> None:
    scope = MemoryScope.of_call(ids.get("user_id"), ids.get("agent_id"), ids.get("run_id"))
    subject = scope.subject("t")
    assert subject == Subject(tenant="t", user_id=name)
    assert MemoryScope.of_subject(subject).owner == scope.owner


def test_session_keys_are_mem0s() -> None:
    scope = MemoryScope("a&b", "x=y", "50%")
    assert scope.session_key == "agent_id=x%3Dy&run_id=50%25&user_id=a%26b"
    assert scope_of_session_key(scope.session_key) == scope
    assert scope_of_session_key("nonsense") is None


def test_filters_without_a_plain_id_name_no_scope() -> None:
    assert MemoryScope.of_filters(None) is None
    assert MemoryScope.of_filters({"user_id": {"in": ["a", "b"]}}) is None
    assert MemoryScope.of_filters({"user_id": "a", "topic": "x"}) == MemoryScope("a")


def test_history_within_a_call_has_no_tools_in_it() -> None:
    messages = read_messages(
        [
            {"role": "user", "content": "one"},
            {"role": "tool", "content": "orders"},
            {"role": "assistant", "content": "two"},
            {"role": "user", "content": "three"},
        ]
    )
    assert [turn.content for turn in history_before(messages, 3)] == ["one", "two"]


def test_a_message_list_must_hold_dicts() -> None:
    with pytest.raises(InvalidTurnError, match=r"messages\[1\]"):
        read_messages([{"role": "user", "content": "x"}, None])


@pytest.mark.parametrize(
    ("text", "entity", "shown"),
    [
        ("lives in Seattle", "user", "User lives in Seattle"),
        ("The lease is renewed", "user", "The lease is renewed"),
        ("can't stand olives", "cousin Wren", "Can't stand olives"),
    ],
)
def test_memory_texts(text: str, entity: str, shown: str) -> None:
    assert readable(text, entity) == shown


@pytest.mark.parametrize("answer", [None, 7, "", "x", "[1]", "{", "```json\nx\n```"])
def test_answers_without_an_object_hold_no_memories(answer: object) -> None:
    assert extracted_memories(answer) is None


def test_a_claim_is_taken_once_and_given_back() -> None:
    scope = MemoryScope("ana")
    with scripted_gate("sqlite://") as gate:
        turn = gate.turn("hello", user_id="ana", occurred_at=datetime.now(UTC), message_id="m")
        gate.observe(turn, carried=True)

        def ask(*, exclusive: bool = True) -> Claim:
            return claim(gate.ledger, ANA, "m", "mem0:x", scope, exclusive=exclusive)

        assert [ask(), ask()] == [Claim.FIRST, Claim.TAKEN]
        release(gate.ledger, ANA, "m", "mem0:x")
        assert ask() is Claim.AGAIN
        foreign = {"state": "claimed", "by": "gone", "at": datetime.now(UTC).isoformat()}
        with gate.ledger.write(ANA) as tx:
            tx.save_answer("m", {"mem0:x": foreign})
        assert ask(exclusive=False) is Claim.TAKEN
        assert ask(exclusive=True) is Claim.AGAIN
