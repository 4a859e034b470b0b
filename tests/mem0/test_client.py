"""The hosted clients: what is held never leaves this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mem0 import AsyncMemoryClient, MemoryClient
from mem0.client.types import AddMemoryOptions, UpdateMemoryOptions

from memgate_core import MemoryGate
from memgate_core.errors import InvalidTurnError
from memgate_core.model import FactStatus, Subject
from memgate_mem0 import GatedAsyncMemoryClient, GatedMemoryClient, gate_memory
from tests.mem0.talk import DAY, START
from tests.support.mem0_service import Mem0Service, mem0_service
from tests.support.scripted import scripted_gate

ADD = "/v3/memories/add/"
FILTERS = {"user_id": "ana"}
ANA = Subject(user_id="ana")


@pytest.fixture
def service() -> Iterator[Mem0Service]:
    with mem0_service() as running:
        yield running


@pytest.fixture
def gate() -> Iterator[MemoryGate]:
    with scripted_gate("sqlite://") as opened:
        yield opened


@pytest.fixture
def client(service: Mem0Service, gate: MemoryGate) -> GatedMemoryClient:
    return GatedMemoryClient("key", service.url, gate=gate)


def status_of(gate: MemoryGate, value: str) -> FactStatus:
    facts = gate.ledger.facts(ANA, include_closed=True, include_pending_native=True)
    return next(fact.status for fact in facts if fact.value == value)


def events(answer: dict[str, Any]) -> list[str]:
    return [entry["event"] for entry in answer["results"]]


def test_facts_only_go_as_mem0s_own_client_sends_them(
    client: GatedMemoryClient, service: Mem0Service
) -> None:
    plain = MemoryClient("key", service.url)
    messages = [{"role": "user", "content": "I live in Leeds."}]
    client.add(messages, user_id="ana", metadata={"app": "x"})
    plain.add(messages, user_id="ana", metadata={"app": "x"})
    ours, theirs = service.sent(ADD)
    assert ours == theirs


def test_a_plan_is_not_sent(client: GatedMemoryClient, service: Mem0Service) -> None:
    answer = client.add("I might move to Seattle. Thanks a lot.", user_id="ana")
    assert events(answer) == ["ADD", "STAGE"]
    assert "Seattle" not in service.all_words()
    client.add("I might join Initech.", user_id="ana")
    assert len(service.sent(ADD)) == 1


def test_a_promotion_goes_as_infer_false_and_once(
    client: GatedMemoryClient, service: Mem0Service
) -> None:
    client.add("I might move to Seattle.", user_id="ana", run_id="r1", occurred_at=START)
    answer = client.add(
        "I have moved to Seattle.", user_id="ana", run_id="r1", occurred_at=START + DAY
    )
    assert events(answer) == ["PROMOTE"]
    (body,) = service.sent(ADD)
    assert body["infer"] is False
    assert body["messages"][0]["content"] == "User lives in Seattle"
    assert (body["user_id"], body["run_id"]) == ("ana", "r1")
    assert body["timestamp"] == int((START + DAY).timestamp())
    promoted = [e for e in client.gate.ledger.events() if e.event_type == "PROMOTED"]
    client.desk._side.apply(promoted[0])
    assert service.texts() == ["User lives in Seattle"]


def test_the_turns_time_goes_along(client: GatedMemoryClient, service: Mem0Service) -> None:
    client.add("I live in Leeds.", user_id="ana", occurred_at=START)
    assert service.sent(ADD)[0]["timestamp"] == int(START.timestamp())


def test_a_superseded_value_is_deleted_at_the_service(
    client: GatedMemoryClient, service: Mem0Service
) -> None:
    client.add("I live in Leeds.", user_id="ana")
    assert events(client.add("I moved to York.", user_id="ana")) == ["ADD", "SUPERSEDE"]
    assert service.texts() == ["I moved to York."]


def test_ids_within_filters_say_whose_it_is(
    client: GatedMemoryClient, service: Mem0Service
) -> None:
    client.add("I live in Leeds.", AddMemoryOptions(filters={"user_id": "ana"}))
    assert client.gate.profile("ana").current("home_city") is not None
    assert service.texts() == ["I live in Leeds."]
    with pytest.raises(InvalidTurnError):
        client.add("I live in Leeds.")


def test_a_retry_is_not_sent_again(client: GatedMemoryClient, service: Mem0Service) -> None:
    first = client.add("I live in Leeds.", user_id="ana", message_id="m1")
    assert client.add("I live in Leeds.", user_id="ana", message_id="m1") == first
    assert len(service.sent(ADD)) == 1


def test_a_service_that_is_down_leaves_the_turn_to_be_retried(
    client: GatedMemoryClient, service: Mem0Service
) -> None:
    service.failures = 1
    with pytest.raises(Exception, match="try later"):
        client.add("I live in Leeds.", user_id="ana", message_id="m1")
    client.add("I live in Leeds.", user_id="ana", message_id="m1")
    assert service.texts() == ["I live in Leeds."]


def test_a_promotion_that_the_service_refuses_is_delivered_later(
    client: GatedMemoryClient, service: Mem0Service
) -> None:
    client.add("I might move to Seattle.", user_id="ana")
    service.failures = 1
    answer = client.add("I have moved to Seattle.", user_id="ana")
    assert answer["results"][0]["pending"] is True
    assert client.gate.profile("ana").current("home_city") is None
    client.gate.ledger.retry_now(client.desk.name)
    assert client.deliver().failed == 0
    assert service.texts() == ["User lives in Seattle"]


def test_updates_are_judged(client: GatedMemoryClient, service: Mem0Service) -> None:
    memory_id = client.add("I live in Leeds.", user_id="ana")["results"][0]["id"]
    assert "held" in client.update(memory_id, text="I might move to Seattle")["message"]
    assert (
        "held"
        in client.update(memory_id, UpdateMemoryOptions(text="I might move to Seattle"))["message"]
    )
    assert "Seattle" not in service.all_words()
    client.update(memory_id, text="I moved to York")
    assert service.texts() == ["I moved to York"]
    assert status_of(client.gate, "York") is FactStatus.CURRENT


def test_batches_are_judged(client: GatedMemoryClient, service: Mem0Service) -> None:
    added = client.add(
        [{"role": "user", "content": "I live in Leeds."}, {"role": "user", "content": "Thanks."}],
        user_id="ana",
    )["results"]
    answer = client.batch_update(
        [
            {"memory_id": added[0]["id"], "text": "I might move to Seattle"},
            {"memory_id": added[1]["id"], "text": "Thanks a lot."},
        ]
    )
    assert [entry["event"] for entry in answer["results"]] == ["STAGE"]
    assert sorted(service.texts()) == ["I live in Leeds.", "Thanks a lot."]
    client.batch_delete([{"memory_id": added[0]["id"]}, {"memory_id": added[1]["id"]}])
    assert service.texts() == []
    assert status_of(client.gate, "Leeds") is FactStatus.REVOKED


def test_deletes_keep_the_ledger_in_step(client: GatedMemoryClient, service: Mem0Service) -> None:
    memory_id = client.add("I live in Leeds.", user_id="ana")["results"][0]["id"]
    client.delete(memory_id)
    assert status_of(client.gate, "Leeds") is FactStatus.REVOKED
    client.add("I live in York. I might move to Seattle.", user_id="ana")
    client.delete_all(user_id="ana")
    assert status_of(client.gate, "York") is FactStatus.REVOKED
    assert list(client.gate.ledger.staged(ANA)) == []
    client.add("I work at Acme.", user_id="ana")
    client.reset()
    assert service.texts() == []
    assert status_of(client.gate, "Acme") is FactStatus.REVOKED


def test_an_erased_user_is_gone_at_the_service(
    client: GatedMemoryClient, service: Mem0Service
) -> None:
    client.add("I live in Leeds.", user_id="ana")
    client.add("I live in York.", user_id="ben")
    report = client.gate.revocation.erase(ANA, by="Operator")
    assert report.clean
    assert (service.texts("ana"), service.texts("ben")) == ([], ["I live in York."])


def test_reads_show_what_may_be_read(client: GatedMemoryClient, service: Mem0Service) -> None:
    memory_id = client.add("I live in Leeds.", user_id="ana")["results"][0]["id"]
    assert client.get(memory_id) is not None
    assert len(client.get_all(filters=FILTERS)["results"]) == 1
    assert len(client.search("leeds", filters=FILTERS)["results"]) == 1
    fact = client.gate.profile("ana").current("home_city")
    assert fact is not None
    service.failures = 99
    client.gate.revocation.revoke(fact.fact_id, by="Ana")
    assert client.get(memory_id) is None
    assert client.get_all(filters=FILTERS)["results"] == []
    assert client.search("leeds", filters=FILTERS)["results"] == []


def test_gate_memory_wraps_a_client(service: Mem0Service, gate: MemoryGate) -> None:
    plain = MemoryClient("key", service.url)
    gated = gate_memory(plain, gate)
    assert isinstance(gated, GatedMemoryClient)
    assert gated.client is plain.client
    gated.add("I might move to Seattle.", user_id="ana")
    assert service.sent(ADD) == []


async def test_the_async_client(service: Mem0Service, gate: MemoryGate) -> None:
    client = gate_memory(AsyncMemoryClient("key", service.url), gate)
    assert isinstance(client, GatedAsyncMemoryClient)
    held = await client.add("I might move to Seattle.", user_id="ana", message_id="m1")
    assert events(held) == ["STAGE"]
    assert service.all_words().count("Seattle") == 0
    done = await client.add("I have moved to Seattle.", user_id="ana", message_id="m2")
    assert events(done) == ["PROMOTE"]
    again = await client.add("I have moved to Seattle.", user_id="ana", message_id="m2")
    assert events(again) == ["PROMOTE"]
    assert service.texts() == ["User lives in Seattle"]
    (row,) = (await client.get_all(filters=FILTERS))["results"]
    assert (await client.get(row["id"])) is not None
    assert "held" in (await client.update(row["id"], text="I might join Initech"))["message"]
    batch = await client.batch_update([{"memory_id": row["id"], "text": "I might join Initech"}])
    assert batch["results"][0]["event"] == "STAGE"
    await client.update(row["id"], text="I moved to York")
    assert len((await client.search("york", filters=FILTERS))["results"]) == 1
    await client.batch_delete([{"memory_id": row["id"]}])
    assert status_of(gate, "York") is FactStatus.REVOKED
    await client.add("I work at Acme.", user_id="ana")
    await client.delete_all(user_id="ana")
    assert status_of(gate, "Acme") is FactStatus.REVOKED
    added = await client.add("I live in Leeds.", user_id="ana")
    await client.delete(added["results"][0]["id"])
    assert status_of(gate, "Leeds") is FactStatus.REVOKED
    await client.add("I live in York.", user_id="ben")
    await client.reset()
    assert service.memories == {}
    assert (await client.deliver()).failed == 0
    await client.async_client.aclose()
