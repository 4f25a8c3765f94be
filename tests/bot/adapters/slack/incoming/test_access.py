"""Who is heard in Slack, how much, and what of a message counts: lists, pace, edits, names in commands."""

import json
from typing import Any

import pytest

from bot.adapters import forms
from bot.adapters.flow_control import LIMITS
from bot.adapters.slack import events
from bot.adapters.slack.outgoing import blocks
from bot.model import (
    PersonCommand,
    PersonCorrection,
    PersonEdit,
    PersonEvent,
    PersonMessage,
    PersonRateLimited,
    TextFile,
)
from memory.model import Role
from tests import CHECKOUT
from tests.bot.adapters.messenger_contract import Heard
from tests.doubles.slack import SlackServer
from tests.doubles.slack.people import Enclosed
from tests.doubles.slack_driver import connected


async def test_a_user_group_may_be_on_the_allow_list(server: SlackServer) -> None:
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    staff = server.workspace.add_group("staff", [ana.id]).id
    async with connected(server, allowed_users=(staff,)) as session:
        for person in (ana, ben):
            question = person.says(channel, f"from {person.id}")
            await person.commands(channel, "/goodbot", "help").answered()
            person.reacts(question, "+1")
        await session.settled()
    assert {event.scope.person for event in session.heard.events} == {ana.id}
    assert [told.text for told in server.ephemerals(ana)] == []
    assert ["may not be used" in told.text for told in server.ephemerals(ben)] == [True]
    assert len(server.calls("usergroups.users.list")) == 1


async def test_who_writes_like_a_program_is_not_heard_for_a_while_but_can_stop_it(server: SlackServer) -> None:
    loop, ana, channel = server.person("loop"), server.person("ana"), server.channel("general")
    most = LIMITS[0].most
    async with connected(server) as session:
        for number in range(most + 5):
            loop.says(channel, f"no, you are wrong ({number})")
        await session.settled()
        question = ana.says(channel, "hello?")
        await session.settled()
        await session.messenger.progress(session.workspace, channel, question.ts, "thinking")
        loop.says(channel, "stop")
        await session.settled()
    heard = [event.scope.person for event in session.heard.events if isinstance(event, PersonMessage)]
    assert heard == [loop.id] * most + [ana.id]
    rest = [event for event in session.heard.events if not isinstance(event, PersonMessage)]
    assert [type(event) for event in rest] == [PersonRateLimited, PersonCommand]


async def test_what_corrects_an_answer_counts_at_any_pace_and_is_confirmed_as_long_as_that_is_within_the_limit(
    server: SlackServer,
) -> None:
    teacher, channel = server.person("teacher"), server.channel("general")

    async def sink(event: PersonEvent) -> None:
        await heard(event)
        if isinstance(event, PersonCorrection):
            notice = session.notice(channel, teacher, f"Saved: {event.text}", thread=event.scope.thread)
            await session.messenger.post(notice)

    heard, most = Heard(), LIMITS[0].most
    async with connected(server, sink=sink, heard=heard) as session:
        for number in range(most + 5):
            teacher.says(channel, f"correct: room {number}")
        await session.settled()
        confirmed = [message.text for message in server.ephemerals(teacher)]
    corrections = [event.text for event in heard.events if isinstance(event, PersonCorrection)]
    assert corrections == [f"room {number}" for number in range(most + 5)]
    assert confirmed == [f"Saved: room {number}" for number in range(most)]
    assert sum(isinstance(event, PersonRateLimited) for event in heard.events) == 1


async def test_two_bots_never_answer_each_other(server: SlackServer) -> None:
    other, channel = server.other_bot("other"), server.channel("general")
    async with connected(server) as session:
        ana = server.person("ana")
        question = ana.says(channel, "who is right?")
        await session.settled()
        await session.messenger.post(session.answer(channel, "Me.", thread=question.ts))
        other.says(channel, "No, me.", thread_ts=question.ts)
        other.says(channel, "No, me.", thread_ts=question.ts, mention=False)
        other.says(channel, "No, me.", thread_ts=question.ts, classic=True)
        await session.settled()
    assert len(session.heard.events) == 1


async def test_a_mention_and_nothing_else_asks_for_help(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        ana.says(channel, "")
        await session.settled()
    [event] = session.heard.events
    assert isinstance(event, PersonCommand)
    assert (event.name, event.scope.channel) == ("help", channel)


async def test_an_edit_of_a_question_keeps_its_files(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        question = ana.says(channel, "what is in it?", files=[Enclosed("a.txt", b"tea")])
        other = ana.says(channel, "not for the bot", files=[Enclosed("b.txt", b"no")], mention=False)
        await session.settled()
        ana.edits(question, f"{question.text} Please.")
        ana.edits(other, "still not")
        await session.settled()
    edits = [event for event in session.heard.events if isinstance(event, PersonEdit)]
    assert {event.message_id: event.files for event in edits} == {
        question.ts: (TextFile(name="a.txt", text="tea"),),
        other.ts: (),
    }


async def test_an_edited_question_is_heard_once_even_if_slack_mentions_it_again(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        question = ana.says(channel, "capital of Frnce?")
        await session.settled()
        ana.edits(question, f"<@{server.workspace.bot.id}> capital of France?", mentions_again=True)
        await session.settled()
    assert [type(event) for event in session.heard.events] == [PersonMessage, PersonEdit]


def test_a_person_named_in_a_command_is_named_by_id() -> None:
    event = {"type": "message", "channel": "C1", "user": "U1", "ts": "1700000000.000100"}
    read = events.read_message({**event, "text": "<@UBOT> purge <@U2|ana maria> yes"}, "UBOT")
    assert isinstance(read, events.NewMessage)
    assert (read.typed, read.text) == ("purge U2 yes", "purge @ana maria yes")
    asked = events.read_message({**event, "text": "<@UBOT> who is <@U2|ana maria>?"}, "UBOT")
    assert isinstance(asked, events.NewMessage)
    assert asked.typed == asked.text == "who is @ana maria?"


async def test_behind_the_slash_too(server: SlackServer) -> None:
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    async with connected(server, admins=(ana.id,)) as session:
        await ana.commands(channel, "/goodbot", f"purge <@{ben.id}|ben> yes").answered()
        await ana.commands(channel, "/goodbot", "correct: tea &amp; milk").answered()
    purge, correction = session.heard.events
    assert isinstance(purge, PersonCommand)
    assert (purge.name, purge.argument, purge.role) == ("purge", f"{ben.id} yes", Role.ADMIN)
    assert "tea & milk" in str(correction)


def test_slack_is_asked_to_send_ids_behind_the_slash() -> None:
    manifest = json.loads((CHECKOUT / "config" / "slack-manifest.json").read_text())
    [command] = manifest["features"]["slash_commands"]
    assert command["should_escape"] is True


@pytest.mark.parametrize(
    ("settings", "role"),
    [
        ({}, Role.ADMIN),
        ({"owners": "teachers"}, Role.TEACHER),
        ({"owners": "members"}, Role.MEMBER),
        ({"teachers": ("UTEA",)}, Role.TEACHER),
    ],
)
async def test_an_admin_of_the_workspace_is_one_of_the_bot_unless_told_otherwise(
    server: SlackServer, settings: dict[str, Any], role: Role
) -> None:
    tea, channel = server.person("tea", user_id="UTEA", admin=True), server.channel("general")
    async with connected(server, **settings) as session:
        await tea.commands(channel, "/goodbot", "review").answered()
    assert [event.role for event in session.heard.events] == [role]


@pytest.mark.parametrize("creators", ["teachers", "members"])
async def test_who_created_a_channel_teaches_in_it_and_nowhere_else(server: SlackServer, creators: str) -> None:
    ana, guest = server.person("ana"), server.person("guest", guest="multi")
    channels = [server.channel(name) for name in ("ours", "theirs", "of-a-guest")]
    for channel, creator in zip(channels, (ana.id, "U0", guest.id), strict=True):
        server.workspace.channel(channel).creator = creator
    async with connected(server, creators=creators) as session:
        for channel, person in zip(channels, (ana, ana, guest), strict=True):
            ref = await session.messenger.post(session.answer(channel))
            await person.rates(session.message(ref), good=True).answered()
    there = Role.TEACHER if creators == "teachers" else Role.MEMBER
    assert [event.role for event in session.heard.events] == [there, Role.MEMBER, Role.GUEST]


async def test_what_reaches_beyond_a_channel_is_not_its_creator_s_to_decide(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("ours")
    server.workspace.channel(channel).creator = ana.id
    async with connected(server) as session:
        for command in ("purge U0123", "promote 0123456789ab workspace", "correct: blue"):
            await ana.commands(channel, "/goodbot", command).answered()
        for audience in ("workspace", "channel"):
            said = ana.says(channel, "Under the blue pot.", mention=False)
            await ana.uses_shortcut(said, blocks.TEACH_SHORTCUT).answered()
            await ana.submits({forms.QUESTION: "the key?", forms.AUDIENCE: audience}).answered()
        await session.settled()
    roles = [Role.TEACHER, Role.TEACHER, Role.TEACHER, Role.MEMBER, Role.TEACHER]
    assert [event.role for event in session.heard.events] == roles
    commands = [event for event in session.heard.events if isinstance(event, PersonCommand)]
    assert [event.is_role_local for event in commands] == [True, True]
