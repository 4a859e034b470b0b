"""From a chat to statements that can be labelled, and to update questions that can be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from evaluation.importers.chat import Asked, Chat
from evaluation.importers.longmemeval import longmemeval
from evaluation.importers.two_people import locomo, realtalk
from evaluation.plans.format import Conversation, ConversationTurn, Session, TrackedField
from evaluation.statements.format import HistoryLine, StatementLine
from memgate_core.extraction.clauses import split
from memgate_core.model import Role

FORMS: dict[str, Callable[[Path], Iterator[Chat]]] = {
    "locomo": locomo,
    "longmemeval": longmemeval,
    "realtalk": realtalk,
}


def statements(chat: Chat) -> Iterator[StatementLine]:
    """Every statement of every person (an assistant is none), with the two messages before it."""
    before: list[tuple[str, str]] = []
    for sitting in chat.sittings:
        for said in sitting.said:
            if said.speaker != "assistant":
                yield from _of_message(chat, len(before), said.speaker, said.text, before[-2:])
            before.append((said.speaker, said.text))


def _of_message(
    chat: Chat, number: int, speaker: str, text: str, before: list[tuple[str, str]]
) -> Iterator[StatementLine]:
    history = tuple(
        HistoryLine(role=Role.USER if who == speaker else Role.ASSISTANT, content=words)
        for who, words in before
    )
    for clause in split(text):
        yield StatementLine(
            id=f"{chat.id}-{number}-{clause.ordinal}",
            text=clause.text,
            history=history,
            message=text,
            role=Role.USER,
        )


def update_questions(chat: Chat, *, every: bool = False) -> Iterator[Conversation]:
    """Questions about what changed, each as a conversation whose user is the one it is about.

    `every`: all questions that have an answer.
    """
    for asked in chat.asked:
        if asked.answer and (every or asked.changes):
            yield _conversation(chat, asked)


def _conversation(chat: Chat, asked: Asked) -> Conversation:
    user = chat.speaker_of(asked)
    sessions = [
        Session(
            date=sitting.date,
            turns=[
                ConversationTurn(
                    role="user" if said.speaker == user else "assistant", content=said.text
                )
                for said in sitting.said
            ],
        )
        for sitting in chat.sittings
    ]
    return Conversation.model_validate(
        {
            "id": asked.id,
            "chat": chat.id,
            "field": TrackedField(attribute="asked", description=asked.question),
            "probe": asked.question,
            "final_value": asked.answer,
            "sessions": sessions,
        }
    )
