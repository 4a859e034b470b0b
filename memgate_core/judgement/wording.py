"""The short wording of each question, for models that answer typed questions instead of prose."""

from __future__ import annotations

from memgate_core.model import EvidenceType, Standing

GATE_QUESTION = (
    "Judged by these words alone, said by this speaker at this moment, may the record of how "
    "things stand today be changed, and how?"
)

EVIDENCE: dict[EvidenceType, str] = {
    EvidenceType.SPECULATION: (
        "A change that has not happened: planned, intended, wished, feared, possible, conditional, "
        "booked or scheduled, however firmly it is put."
    ),
    EvidenceType.COMPLETED_EVENT: (
        "Something particular has happened, lately or long ago, or a new state has audibly begun."
    ),
    EvidenceType.CORRECTION: (
        "Something said or believed earlier was wrong already when it was said, and is put right."
    ),
    EvidenceType.OTHER: (
        "Changes no record by itself: lasting states, tastes, habits, feelings, vague "
        "recollections, verdicts on the past, courtesy, questions, requests, idle what-ifs."
    ),
}

STANDING_QUESTION = "How do these words stand to the speaker's own lasting circumstances?"

STANDING: dict[Standing, str] = {
    Standing.OWN: "The speaker's own (pets and possessions count), and meant to last; plans too.",
    Standing.OTHER_PERSON: "About somebody else.",
    Standing.TEMPORARY: "For this occasion only, while something else lasts.",
    Standing.QUOTED: "Somebody else's words, reported or pasted, not made the speaker's own.",
    Standing.NON_LITERAL: "A joke, sarcasm, a game, a story or an example.",
    Standing.PAST: "A state of the speaker's that is over.",
    Standing.NEGATED: "The words deny it.",
    Standing.RETRACTION: "The words take back what was said just before.",
    Standing.UNSUPPORTED: "A value is named, and the words do not say that it holds.",
}

FIELD_QUESTION = "Which slot of the speaker's profile does this value fill, now or once it is true?"
NO_FIELD = "none_of_these"
NO_FIELD_MEANING = "No slot listed: another topic, or another person's value."

TRUE_QUESTION = (
    "Does the message show that this plan has come true: said outright, in other words, by "
    "pointing back, or by living in the new situation? Repeating, postponing, asking about or "
    "coming nearer to it is not enough."
)
OFF_QUESTION = (
    "Does the message show that this plan will not come true: dropped, refused, or replaced by "
    "something that excludes it? Being postponed is not enough."
)
WHERE_QUESTION = "Which part of the message bears on this plan most?"
