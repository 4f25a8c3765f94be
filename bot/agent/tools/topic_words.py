"""Reads questions about topics, and words the answers to them."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise

from memory.model import Audience
from memory.rules.retrieval.prompt import one_line
from memory.rules.use_detection.words import terms
from memory.services.topics import FieldBundle, Value
from memory.services.topics.facts import ChangeOutcome, ChangeResult
from memory.services.topics.listing import KnownTopic

_VALUE_CHARACTERS = 500
_MOST_FIELDS = 8
_MOST_VALUES = 10
_SINCE = re.compile(r"\b(?:since|how long|when did\b[^?.]{0,80}\b(?:become|change|start|get|take))\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"\b(?:before|previous|previously|formerly|former|earlier|used to|until now|history|so far|predecessor)\b",
    re.IGNORECASE,
)
_MODAL = re.compile(r"\b(?:may|can|could|should|must|would|will|do|does|did)\b", re.IGNORECASE)
_KNOWING = re.compile(r"\b(?:know|tell|happen)\b|when did\b", re.IGNORECASE)
_ASKED_FOR = {
    "who": ("owner", "contact", "person", "responsible", "lead", "team", "author", "maintainer"),
    "whom": ("owner", "contact", "person", "responsible", "lead"),
    "whose": ("owner", "team"),
    "where": ("room", "place", "location", "address", "channel", "url", "link", "floor"),
    "when": ("date", "time", "day", "deadline", "start", "begin", "schedule", "hours"),
}
"""Names of fields that a question word asks for."""
_GENERAL_WORDS = (
    "know known knows tell what's thing things everything information info detail details since before previous "
    "previously formerly former earlier used until history far long change changed become start get current currently "
    "now today show explain happened"
)
_GENERAL = frozenset(_GENERAL_WORDS.split())
"""Words of a question that name no field."""
_SHARED = 3
"""The least letters that a word of the question shares with a field's name: "owns" and "owner"."""


class Tense(StrEnum):
    """Which of a field's values a question is about."""

    NOW = "now"
    SINCE = "since"
    BEFORE = "before"


@dataclass(frozen=True, slots=True)
class TopicQuestion:
    """A question about a topic."""

    tense: Tense
    words: tuple[str, ...]
    """The words of the question."""
    stands_for: tuple[str, ...]
    is_of_doing: bool
    """Whether it asks what somebody does or may do, rather than for a fact."""


def wanted_in(question: str) -> TopicQuestion:
    """Read a question about a topic."""
    tense = Tense.BEFORE if _BEFORE.search(question) else Tense.SINCE if _SINCE.search(question) else Tense.NOW
    folded = re.findall(r"[^\W_]+", question.casefold())
    first = next((word for word in folded if word in _ASKED_FOR), "")
    # "since when" does not ask for a field with a date.
    is_other = first == "when" and tense is not Tense.NOW
    stands_for = () if is_other else _ASKED_FOR.get(first, ())
    is_of_doing = _MODAL.search(question) is not None and _KNOWING.search(question) is None
    return TopicQuestion(tense, tuple(term.text for term in terms(question)), stands_for, is_of_doing)


def sentences_about(topic: KnownTopic, wanted: TopicQuestion) -> str:
    """The answer in sentences; empty if nothing is known that the question asks for."""
    fields = _fields(topic, wanted)
    lines = [line for field in fields if (line := _line(topic.title, field, wanted.tense))]
    if not topic.fields and topic.topic.summary and wanted.tense is Tense.NOW:
        return f"{_short(topic.title)}: {_short(topic.topic.summary)}"
    return "\n".join(lines)


def _fields(topic: KnownTopic, wanted: TopicQuestion) -> list[FieldBundle]:
    """The fields that the question names; else those of its question word; else all, if it names nothing else."""
    title = {term.text for term in terms(topic.title)}
    words = [word for word in wanted.words if word not in title and word not in _GENERAL]
    named = [field for field in topic.fields if any(_are_alike(word, name) for word in words for name in _names(field))]
    meant = [field for field in topic.fields if any(name in wanted.stands_for for name in _names(field))]
    values = {part for field in topic.fields for each in field.history for part in _words_of(each)}
    is_open = not wanted.is_of_doing and not wanted.stands_for and all(word in values for word in words)
    if named or is_open:
        return (named or list(topic.fields))[:_MOST_FIELDS]
    return meant[:_MOST_FIELDS] if len(words) <= 1 and not wanted.is_of_doing else []


def _words_of(value: Value) -> list[str]:
    return re.findall(r"[^\W_]+", shown_value(value, 200).casefold())


def _names(field: FieldBundle) -> list[str]:
    return re.findall(r"[^\W_]+", field.name.casefold())


def _are_alike(one: str, other: str) -> bool:
    """Whether two words are probably forms of one: they differ only in their endings."""
    size = max(_SHARED, min(len(one), len(other)) - 2)
    return one[:size] == other[:size] and abs(len(one) - len(other)) <= 3


def _line(title: str, field: FieldBundle, tense: Tense) -> str:
    name = f"{_short(title)}, {_short(field.name)}"
    if tense is Tense.BEFORE:
        return _history(name, field)
    if field.current is None:
        return ""
    because = f" ({_short(field.current.why_changed)})" if field.current.why_changed else ""
    return f"{name}: {shown_value(field.current)}, since {day(field.current.valid_from)}{because}."


def _history(name: str, field: FieldBundle) -> str:
    """The earlier values, each with the time it held."""
    values = list(field.history)
    if field.current is not None and field.current in values:
        values = values[values.index(field.current) :]
    if len(values) < 2:
        return f"{name}: nothing else is known from before {shown_value(values[0])}." if values else ""
    spans = [f"{shown_value(each)} ({_span(each.valid_from, after.valid_from)})" for after, each in pairwise(values)]
    return f"{name}: before {shown_value(values[0])} it was {', before that '.join(spans[:_MOST_VALUES])}."


def _span(begin: datetime, end: datetime) -> str:
    if begin.date() == end.date():
        return f"on {day(begin)}"
    return f"from {day(begin)} to {day(end)}"


def summary_line(topic: KnownTopic) -> str:
    """A topic in one line, for lists."""
    for_whom = {
        Audience.PERSONAL: "for you",
        Audience.CHANNEL: "for this channel",
        Audience.WORKSPACE: "for everybody",
    }[topic.audience]
    values = [
        f"{_short(field.name)} {shown_value(field.current, 80)} since {day(field.current.valid_from)}"
        for field in topic.fields[:_MOST_FIELDS]
        if field.current is not None
    ]
    known = "; ".join(values) or one_line(topic.topic.summary or "nothing yet", 120)
    return f"{one_line(topic.title, 80)}: {known} - {for_whom}"


def change_result(changed: ChangeResult, value: str) -> str:
    """The outcome of a change to a topic, as a sentence."""
    thing, name = _short(changed.topic.title or changed.topic.public_id), _short(changed.property)
    where = {Audience.PERSONAL: "for you alone", Audience.CHANNEL: "for this channel"}.get(
        changed.audience, "for everybody"
    )
    match changed.outcome:
        case ChangeOutcome.REFUSED:
            return (
                f"I left {thing} as it is: somebody else noted it. They can change it, or a teacher: ask them to tell "
                f"me that its {name} is now {_short(value)}."
            )
        case ChangeOutcome.KNOWN:
            return f"That is known already: {thing}, {name}: {_short(value)}."
        case ChangeOutcome.NEW_TOPIC:
            return f"Noted {where}: {thing}, {name}: {_short(value)}."
        case ChangeOutcome.CHANGED:
            before = f" It was {shown_value(changed.before)} before." if changed.before is not None else ""
            return f"Noted {where}: {thing}, {name}: {_short(value)}.{before}"


def shown_value(value: Value, characters: int = _VALUE_CHARACTERS) -> str:
    """A value as text."""
    match value.value:
        case None:
            return "nothing"
        case bool(is_so):
            return "yes" if is_so else "no"
        case list() | tuple() as several:
            return one_line(", ".join(map(str, several)), characters)
        case other:
            return one_line(str(other), characters)


def day(moment: datetime) -> str:
    """A date: 22 April 2026."""
    return f"{moment.day} {moment:%B} {moment.year}"


def _short(text: str) -> str:
    return one_line(text, _VALUE_CHARACTERS)
