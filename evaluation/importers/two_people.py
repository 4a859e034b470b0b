"""LoCoMo and REALTALK: two people over numbered sessions, with questions that name their evidence.

    LoCoMo    [{"sample_id", "conversation": {"speaker_a", "speaker_b", "session_1": [{"speaker",
              "text", "dia_id"}], "session_1_date_time": "1:56 pm on 8 May, 2023"}, "qa": […]}]
    REALTALK  {"name": {"speaker_1", "speaker_2"}, "session_1": [{"speaker", "clean_text",
              "date_time", "dia_id"}], "session_1_date_time": "29.12.2023, 20:42:40", "qa": […]}

Neither set marks questions about something that changed; those whose evidence lies in more than
one session are taken for such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evaluation.importers.chat import Asked, Chat, Said, Sitting, date_of, need, records

_SESSION = re.compile(r"^session_(\d+)$")
_FORMS = ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S", "%d.%m.%Y", "%Y-%m-%d %H:%M:%S")
_PLACE = re.compile(r"D(\d+):\d+")


def locomo(path: Path) -> Iterator[Chat]:
    """Chats of a LoCoMo file.

    Raises:
        InvalidInputError, InvalidRecordError: names the record and the key.
    """
    for number, record in records(path):
        talk = need(path, number, record, "conversation", dict)
        speakers = tuple(str(need(path, number, talk, k, str)) for k in ("speaker_a", "speaker_b"))
        name = str(record.get("sample_id", f"{path.stem}-{number}"))
        yield _chat(path, number, name, speakers, talk, record, "text")


def realtalk(path: Path) -> Iterator[Chat]:
    """Chats of a REALTALK file.

    Raises:
        InvalidInputError, InvalidRecordError: names the record and the key.
    """
    for number, record in records(path):
        names = need(path, number, record, "name", dict)
        speakers = tuple(str(need(path, number, names, k, str)) for k in ("speaker_1", "speaker_2"))
        yield _chat(path, number, path.stem, speakers, record, record, "clean_text")


def _chat(
    path: Path,
    number: int,
    name: str,
    speakers: tuple[str, ...],
    talk: Mapping[str, Any],
    record: Mapping[str, Any],
    text_key: str,
) -> Chat:
    keys = sorted((int(m.group(1)), key) for key in talk if (m := _SESSION.match(key)))
    sittings = [_sitting(path, number, talk, key, text_key) for _, key in keys]
    return Chat(
        id=name,
        speakers=speakers,
        sittings=[sitting for sitting in sittings if sitting.said],
        asked=[_asked(path, number, name, at, qa) for at, qa in enumerate(record.get("qa") or [])],
    )


def _sitting(path: Path, number: int, talk: Mapping[str, Any], key: str, text_key: str) -> Sitting:
    lines = need(path, number, talk, key, list)
    when = talk.get(f"{key}_date_time") or (lines[0].get("date_time") if lines else None)
    date = date_of(path, number, f"{key}_date_time", str(when), *_FORMS)
    said = [
        Said(
            speaker=str(need(path, number, line, "speaker", str)),
            text=str(line.get(text_key) or "").strip(),
            place=str(line.get("dia_id", "")),
        )
        for line in lines
    ]
    return Sitting(date=date, said=[one for one in said if one.text])


def _asked(path: Path, number: int, chat: str, at: int, qa: Mapping[str, Any]) -> Asked:
    evidence = tuple(str(place) for place in qa.get("evidence") or ())
    sessions = {m.group(1) for place in evidence for m in _PLACE.finditer(place)}
    return Asked(
        id=f"{chat}-q{at + 1}",
        question=str(need(path, number, qa, "question", str)),
        answer=str(qa.get("answer", "")),
        evidence=evidence,
        changes=len(sessions) > 1 and bool(qa.get("answer")),
    )
