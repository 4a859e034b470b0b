"""What a model is told of a memory: facts with their dates, receipts, plans labelled as plans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memgate_core.model import Fact, Receipt, StagedItem

NOTHING_KNOWN = "Nothing is known about the user yet."


def facts_text(facts: Sequence[Fact], *, limit: int = 40) -> str:
    """One line a fact, with the day it began; of many, registered fields and the newest others."""
    if not facts:
        return NOTHING_KNOWN
    registered = [fact for fact in facts if not fact.open]
    others = [fact for fact in facts if fact.open][-max(0, limit - len(registered)) :]
    return "\n".join(_fact_line(fact) for fact in [*registered, *others])


def receipts_text(receipts: Iterable[Receipt]) -> str:
    """What became of the user's words in memory, in words that an assistant may voice."""
    said = [receipt.say() for receipt in receipts]
    return "\n".join(f"- {line}" for line in said if line != "nothing to remember")


def plans_text(items: Sequence[StagedItem]) -> str:
    """Held items, each labelled as the plan that it is."""
    return "\n".join(
        f"- plan, not a fact: {item.text}"
        f' (said {item.last_stated_at:%Y-%m-%d}: "{_short(item.words)}")'
        for item in items
    )


def briefing(
    facts: Sequence[Fact], receipts: Sequence[Receipt], offered: Sequence[StagedItem]
) -> str:
    """Everything that a model is told before it answers."""
    known = facts_text(facts)
    parts = [f"What memory holds about the user (facts, with the day they began):\n{known}"]
    if noted := receipts_text(receipts):
        parts.append(
            "What memory did with the user's latest words. Say nothing else about it: what is held"
            f" has not been saved as a fact.\n{noted}"
        )
    if offered:
        parts.append(
            "Plans the user mentioned earlier. They are not facts. If it fits, you may ask how one"
            f" of them turned out; only the user's own answer settles it.\n{plans_text(offered)}"
        )
    return "\n\n".join(parts)


def _fact_line(fact: Fact) -> str:
    since = f"{fact.valid_from:%Y-%m-%d}"
    if fact.attribute is not None and fact.value is not None:
        name = fact.key.scope.label(fact.attribute.replace("_", " "))
        return f"- {name}: {fact.value} (since {since})"
    about = "" if fact.entity == "user" else f"{fact.entity}: "
    return f"- {about}{fact.text} (said {since})"


def _short(words: str, limit: int = 120) -> str:
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"
