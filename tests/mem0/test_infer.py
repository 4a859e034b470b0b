"""infer=True: Mem0's own LLM sees forwarded words only, and what it extracts is judged again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from mem0.exceptions import LLMError

from memgate_mem0 import GatedMemory
from tests.mem0.talk import MemoryTalk
from tests.support.recorded_llm import RecordedLLM


@pytest.fixture
def ana(memory: GatedMemory) -> MemoryTalk:
    return MemoryTalk(memory, infer=True)


def test_an_extracted_fact_is_stored_and_linked(ana: MemoryTalk, llm: RecordedLLM) -> None:
    llm.recordings = {"I live in Leeds": ["User lives in Leeds"]}
    entries = ana.says("I live in Leeds.", message_id="m1")
    assert ana.events(entries) == ["ADD"]
    assert ana.all_texts() == ["User lives in Leeds"]
    (fact,) = ana.memory.gate.ledger.facts(ana.subject)
    (link,) = ana.memory.gate.ledger.links(ana.memory.desk.name, fact_id=fact.fact_id)
    assert link.native_id == entries[0]["id"]


def test_the_extracted_memory_moves_when_its_fact_ends(ana: MemoryTalk, llm: RecordedLLM) -> None:
    llm.recordings = {
        "I live in Leeds": ["User lives in Leeds"],
        "I moved to York": ["User moved to York"],
    }
    ana.says("I live in Leeds.")
    ana.says("I moved to York.")
    assert ana.all_texts() == ["User moved to York"]
    before = ana.now - timedelta(hours=1)
    as_of = ana.memory.get_all(filters=ana.filters, as_of=before)["results"]
    assert [row["memory"] for row in as_of] == ["User lives in Leeds"]


def test_a_paraphrase_is_not_reworded_into_a_copy_of_another_memory(
    ana: MemoryTalk, llm: RecordedLLM
) -> None:
    llm.recordings = {
        "I live in Leeds": ["User lives in Leeds, works at Acme", "User works at Acme"],
        "I moved to York": ["User moved to York"],
    }
    ana.says("I live in Leeds. I work at Acme.")
    ledger, name = ana.memory.gate.ledger, ana.memory.desk.name
    assert sorted(len(one.fact_ids) for one in ledger.links(name, subject=ana.subject)) == [1, 2]
    ana.says("I moved to York.")
    assert sorted(ana.all_texts()) == ["User moved to York", "User works at Acme"]
    before = ana.now - timedelta(hours=1)
    as_of = ana.memory.get_all(filters=ana.filters, as_of=before)["results"]
    assert "User lives in Leeds, works at Acme" in [row["memory"] for row in as_of]


def test_the_model_never_sees_held_words(ana: MemoryTalk, llm: RecordedLLM) -> None:
    ana.says("I might move to Seattle. The tap drips again.")
    ana.says("Nothing new here, just saying hello again.")
    assert llm.prompts
    assert not llm.saw("Seattle")
    assert not any("Seattle" in content for content in ana.raw_messages())


def test_without_forwarded_words_the_model_is_not_asked(ana: MemoryTalk, llm: RecordedLLM) -> None:
    ana.says("I might move to Seattle.")
    assert llm.prompts == []


def test_an_extraction_that_rests_on_held_words_is_not_stored(
    ana: MemoryTalk, llm: RecordedLLM
) -> None:
    llm.recordings = {"The tap drips": ["User has a dripping tap", "User lives in Seattle"]}
    entries = ana.says("I might move to Seattle. The tap drips again.")
    assert "User lives in Seattle" not in [entry["memory"] for entry in entries]
    assert ana.shown("Seattle") == []


def test_an_extraction_from_an_assistants_line_is_not_stored(
    ana: MemoryTalk, llm: RecordedLLM
) -> None:
    llm.recordings = {"coastal path": ["User enjoys the coastal path at Merrow"]}
    ana.says(
        [
            {"role": "assistant", "content": "You might enjoy the coastal path at Merrow."},
            {"role": "user", "content": "Thanks."},
        ]
    )
    assert ana.all_texts() == []


def test_an_assistants_earlier_line_about_what_is_now_held_leaves_the_raw_messages(
    ana: MemoryTalk, llm: RecordedLLM
) -> None:
    ana.says(
        [
            {"role": "user", "content": "Any ideas?"},
            {"role": "assistant", "content": "Living in Seattle would suit you."},
        ]
    )
    assert any("Seattle" in content for content in ana.raw_messages())
    ana.says("I might move to Seattle.")
    assert not any("Seattle" in content for content in ana.raw_messages())
    assert ana.raw_messages()  # the rest of the talk is still there
    llm.prompts.clear()
    ana.says("The tap drips again.")
    assert not llm.saw("Seattle")


def test_a_message_from_before_the_gate_that_holds_the_words_is_scrubbed(
    ana: MemoryTalk, llm: RecordedLLM
) -> None:
    said = {"role": "user", "content": "By the way: I might move to Seattle. Lovely weather."}
    ana.memory.db.save_messages([said], "user_id=ana")
    ana.says("I might move to Seattle.")
    assert ana.raw_messages() == ["By the way Lovely weather."]
    assert llm.prompts == []


def test_a_leaky_model_cannot_bring_a_plan_in_through_old_messages(
    ana: MemoryTalk, llm: RecordedLLM
) -> None:
    llm.leaky = True
    llm.recordings = {"Seattle": ["User lives in Seattle"]}
    ana.says("I might move to Seattle.")
    ana.memory.db.save_messages(
        [{"role": "assistant", "content": "Everyone loves Seattle these days."}], "user_id=ana"
    )
    ana.says("The tap drips again.")
    assert ana.shown("Seattle") == []


def test_the_prompt_has_the_turns_own_day(ana: MemoryTalk, llm: RecordedLLM) -> None:
    ana.says("I live in Leeds.")
    assert llm.observation_date == ana.now.date().isoformat()


def test_without_a_time_the_prompt_is_mem0s_own(memory: GatedMemory, llm: RecordedLLM) -> None:
    memory.add("I live in Leeds.", user_id="ana")
    today = llm.prompts[-1].split("## Current Date\n")[1].split("\n")[0]
    assert llm.observation_date == today


def test_a_quoted_heading_in_a_message_is_left_alone(ana: MemoryTalk, llm: RecordedLLM) -> None:
    said = "The template says\n## Observation Date\n2001-01-01\n\n## Current Date\n2001-01-01"
    ana.says(said)
    assert llm.observation_date == "2001-01-01"
    last = llm.prompts[-1].rindex("## Observation Date\n")
    assert llm.prompts[-1][last:].startswith(f"## Observation Date\n{ana.now.date()}")


@pytest.mark.parametrize("answer", ["", "[]", "no facts today", "{broken", '{"memory": "x"}'])
def test_a_malformed_extraction_stores_nothing_and_breaks_nothing(
    ana: MemoryTalk, llm: RecordedLLM, answer: str
) -> None:
    llm.raw_answer = answer
    assert ana.says("The tap drips again.") == []
    assert ana.all_texts() == []


@pytest.mark.parametrize(
    "answer",
    [
        '```json\n{"memory": [{"text": "User lives in Leeds"}]}\n```',
        'Sure: {"memory": [{"text": "User lives in Leeds"}]} as asked',
        '<think>hm</think>{"memory": [{"text": "User lives in Leeds"}]}',
    ],
)
def test_an_extraction_in_wrappings_is_read_as_mem0_reads_it(
    ana: MemoryTalk, llm: RecordedLLM, answer: str
) -> None:
    llm.raw_answer = answer
    ana.says("I live in Leeds.")
    assert ana.all_texts() == ["User lives in Leeds"]


def test_a_model_that_fails_leaves_the_turn_to_be_retried(
    ana: MemoryTalk, llm: RecordedLLM
) -> None:
    llm.recordings = {"I live in Leeds": ["User lives in Leeds"]}
    llm.fault = TimeoutError("too slow")
    with pytest.raises(LLMError):
        ana.says("I live in Leeds.", message_id="m1")
    assert ana.all_texts() == []
    ana.says("I live in Leeds.", message_id="m1")
    assert ana.all_texts() == ["User lives in Leeds"]
    assert ana.raw_messages() == ["I live in Leeds."]


def test_other_uses_of_the_model_pass_untouched(memory: GatedMemory, llm: RecordedLLM) -> None:
    assert memory.llm is llm
    answer = memory.add(
        "I tried three ways to fix the tap.",
        agent_id="a1",
        memory_type="procedural_memory",
    )
    assert answer["results"][0]["memory"].startswith("summary of")


def test_procedural_memory_never_holds_a_plan(memory: GatedMemory, llm: RecordedLLM) -> None:
    memory.add(
        "I might move to Seattle. The tap drips again.",
        agent_id="a1",
        memory_type="procedural_memory",
    )
    assert not llm.saw("Seattle")
