"""What a reply or a file may repeat: nothing that the person is not shown where it was said, and where they ask."""

from collections.abc import AsyncIterator

import pytest

from memory.model import Audience, Role, Scope, Visibility
from memory.ports import EpisodeFilter
from memory.services.topics import FieldInput, Ingest, Placement
from tests.doubles.conversation import ANA, BOB, TEA, Chat, direct
from tests.doubles.memory_world import scope

PRIVATE = scope("ana", channel="p1", visibility=Visibility.PRIVATE)
ELSEWHERE = scope("ana", channel="c2")


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    chat = Chat()
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    assert chat.world.memory.audit.check() == []


async def exported(chat: Chat, kind: str, by: Scope = ANA) -> str:
    await chat.command("export", kind, by)
    return chat.messenger.files[-1].content.decode()


# corrections of others ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["", "csv", "prompt"])
@pytest.mark.parametrize("place", [ANA, PRIVATE])
async def test_an_export_holds_a_correction_once_why_and_memory_show_it(chat: Chat, kind: str, place: Scope) -> None:
    posted = await chat.ask("lunch?", place)
    await chat.react(posted, "👎", place)
    colleague = scope("bob", channel=place.channel, visibility=place.visibility)
    await chat.correct("zyzzyva", colleague, message_id=posted)
    assert "zyzzyva" not in await chat.command("memory", by=place)
    assert "zyzzyva" not in await chat.command("why", by=place, message_id=posted)
    assert "zyzzyva" not in await exported(chat, kind, place)
    assert "zyzzyva" not in await exported(chat, kind, direct("ana"))
    teacher = scope("tea", channel=place.channel, visibility=place.visibility)
    await chat.correct("zyzzyva at noon", teacher, message_id=posted, role=Role.TEACHER)
    assert "zyzzyva at noon" in await chat.command("why", by=place, message_id=posted)
    assert "zyzzyva at noon" in await exported(chat, kind, place)
    assert "zyzzyva at noon" in await exported(chat, kind, direct("ana"))


async def test_an_export_holds_what_its_reader_wrote(chat: Chat) -> None:
    posted = await chat.ask("lunch?", BOB)
    await chat.correct("at noon", ANA, message_id=posted)
    assert "at noon" in await exported(chat, "")
    assert "at noon" in await exported(chat, "csv")


async def test_an_export_names_topics_as_their_authors_did(chat: Chat) -> None:
    world = chat.world.memory.world
    world.ingest(BOB, Ingest(topic_id="x", title="Hidden"))
    value = FieldInput(name="n", value=1, revision_id="r1")
    world.ingest(ANA, Ingest(topic_id="x", title="Open", audience=Audience.WORKSPACE))
    world.ingest(ANA, Ingest(placement=Placement.EXTEND_TOPIC, topic_id="x", fields=[value]))
    held = chat.world.memory.privacy.copy(ANA.workspace, "ana")
    assert [(topic.id, topic.alias) for topic in held.topics] == [("x", "")]
    assert [value.topic_id for value in held.values] == ["x"]


# words of another conversation --------------------------------------------------------------------------------------

EVERYTHING = EpisodeFilter(include_archived=True, limit=None)
ABOUT_ONE = ["why", "archive", "restore", "unrate", "promote", "release", "undo"]
PLACES = [direct("ana"), PRIVATE, scope("ana", channel="s1", visibility=Visibility.SHARED)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("act", ["rate", "correct", "teach"])
@pytest.mark.parametrize("asked", [ELSEWHERE, scope("ana", channel="s2", visibility=Visibility.SHARED)])
async def test_undo_names_what_was_said_elsewhere_without_its_words(
    chat: Chat, place: Scope, act: str, asked: Scope
) -> None:
    for _ in range(2):
        await do(chat, act, place)
    told = await chat.command("undo", by=asked)
    assert "zyzzyva" not in told
    assert "in another conversation" in told
    assert "zyzzyva" in await chat.command("undo", by=place)


async def do(chat: Chat, act: str, place: Scope) -> None:
    posted = await chat.ask("my secret zyzzyva?", place)
    if act == "rate":
        await chat.react(posted, "👎", place)
    elif act == "correct":
        await chat.correct("it is elsewhere", place, message_id=posted)
    else:
        now = chat.world.clock.tick()
        lesson = chat.world.memory.teaching.teach(
            place, "my secret zyzzyva?", f"it is {now}", role=Role.MEMBER, audience=Audience.PERSONAL, at=now
        )
        assert lesson is not None


@pytest.mark.parametrize("place", PLACES)
async def test_no_command_repeats_in_a_channel_what_was_said_elsewhere(chat: Chat, place: Scope) -> None:
    for act in ("rate", "correct", "teach"):
        await do(chat, act, place)
    with chat.store.read() as tx:
        every = tx.episodes.search(ANA.workspace, EVERYTHING)
    commands = ["why", "memory", "ratings", "undo", "undo", "undo", "forget", "review", "purge ana", "stop"]
    commands += [f"{name} {episode.id[-8:]} page 1" for episode in every for name in ABOUT_ONE]
    for by, role in ((ELSEWHERE, Role.MEMBER), (scope("tea", channel="c2"), Role.TEACHER)):
        for line in commands:
            name, _, argument = line.partition(" ")
            assert "zyzzyva" not in await chat.command(name, argument, by, role=role), line


@pytest.mark.parametrize("by", [TEA, ANA])
async def test_undo_in_a_direct_message_may_name_ones_own_words(chat: Chat, by: Scope) -> None:
    posted = await chat.ask("lunch?", by)
    await chat.react(posted, "👍", by)
    assert "lunch?" in await chat.command("undo", by=direct(by.person))
