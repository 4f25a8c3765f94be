"""Which of a topic's fields and values a question asks for."""

from datetime import UTC, datetime

import pytest

from bot.agent.tools.topic_words import sentences_about, shown_value, summary_line, wanted_in
from memory.model.topic import FieldType, Topic
from memory.services.topics import FieldBundle, Value
from memory.services.topics.listing import KnownTopic

FEB, MARCH, APRIL = (datetime(2026, month, 2, tzinfo=UTC) for month in (2, 3, 4))


def value(of: object, since: datetime, why: str | None = None) -> Value:
    return Value(id=str(of), value=of, valid_from=since, provenance=None, why_changed=why, impact_expected=None)


def field(name: str, *history: Value) -> FieldBundle:
    return FieldBundle(
        name=name, field_type=FieldType.STRING, ref_topic_id=None, current=history[0], history=tuple(history)
    )


DEPLOY = KnownTopic(
    topic=Topic(
        workspace="w", id="t", partition="workspace", person="ana", title="Deploy", created_at=FEB, salience_at=FEB
    ),
    fields=(
        field("owner", value("Aya", APRIL, "handoff"), value("Priya", MARCH), value("nobody", FEB)),
        field("room", value("4.12", MARCH)),
    ),
    people=("ana",),
)
OWNER, ROOM = "Deploy, owner: Aya, since 2 April 2026 (handoff).", "Deploy, room: 4.12, since 2 March 2026."
BEFORE = (
    "Deploy, owner: before Aya it was Priya (from 2 March 2026 to 2 April 2026), "
    "before that nobody (from 2 February 2026 to 2 March 2026)."
)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("who owns the deploy?", OWNER),
        ("who is it for the deploy?", OWNER),
        ("who is the owner of the deploy?", OWNER),
        ("since when is Aya the owner of the deploy?", OWNER),
        ("how long has the deploy had its owner?", OWNER),
        ("where is the deploy?", ROOM),
        ("which room is the deploy in?", ROOM),
        ("what do you know about the deploy?", f"{OWNER}\n{ROOM}"),
        ("who owned the deploy before Aya?", BEFORE),
        ("who was the previous owner of the deploy?", BEFORE),
        ("what was the deploy's room before?", "Deploy, room: nothing else is known from before 4.12."),
        ("how do I deploy to staging?", ""),
        ("who may deploy?", ""),
        ("what does the deploy cost?", ""),
        ("when is the deploy?", ""),
    ],
)
def test_what_a_question_is_told(question: str, told: str) -> None:
    assert sentences_about(DEPLOY, wanted_in(question)) == told


def test_a_topic_in_one_line() -> None:
    assert summary_line(DEPLOY) == "Deploy: owner Aya since 2 April 2026; room 4.12 since 2 March 2026 - for everybody"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (True, "yes"),
        (False, "no"),
        (None, "nothing"),
        (3, "3"),
        (["a", 1], "a, 1"),
        ("a\nb", "a b"),
        ({"a": 1}, "{'a': 1}"),
    ],
)
def test_values_as_people_write_them(given: object, shown: str) -> None:
    assert shown_value(value(given, FEB)) == shown
