"""What people do on Discord, as the bot hears it: messages, edits, deletions, reactions, words that are commands."""

from dataclasses import replace
from typing import Any

import pytest

from bot.adapters.discord import files as discord_files
from bot.adapters.discord.rest import MISSING_ACCESS
from bot.model import (
    Address,
    PersonCommand,
    PersonCorrection,
    PersonDeletion,
    PersonEdit,
    PersonMessage,
    PersonReaction,
    ReactionsCleared,
)
from memory.model import Role, Visibility
from tests.doubles.discord import DiscordServer, File, Hang, Intent, Permission, Reset, failing, rate_limited, refusing
from tests.doubles.discord.faults import Trouble
from tests.doubles.discord_driver import Session, connected
from tests.doubles.queries import QUERIES

# Where and who ------------------------------------------------------------------------------------------------------


async def test_a_mention_in_a_public_channel(server: DiscordServer, session: Session) -> None:
    asked = session.asks("capital of France?")
    [event] = await session.heard.of(PersonMessage, 1)

    assert (event.text, event.address, event.role) == ("capital of France?", Address.MENTION, Role.MEMBER)
    assert (event.event_id, event.message_id, event.at) == (asked.id, asked.id, event.at)
    scope = event.scope
    assert (scope.workspace, scope.channel, scope.thread) == (session.workspace, session.general.id, "")
    assert (scope.person, scope.visibility, scope.place) == (session.ana.id, Visibility.PUBLIC, "#general")


async def test_a_direct_message(server: DiscordServer, session: Session) -> None:
    direct = server.dm(session.ana)
    server.says(session.ana, direct, "capital of France?")
    [event] = await session.heard.of(PersonMessage, 1)

    assert (event.text, event.address) == ("capital of France?", Address.DIRECT)
    assert (event.scope.workspace, event.scope.channel, event.scope.place) == ("discord:dm", direct.id, "DM")
    assert event.scope.visibility is Visibility.DIRECT


async def test_a_channel_that_not_everybody_sees_is_private(server: DiscordServer, session: Session) -> None:
    staff = server.channel(session.guild, "staff", private_to=[session.ana])
    session.asks(channel=staff)
    [event] = await session.heard.of(PersonMessage, 1)
    assert (event.scope.visibility, event.scope.place) == (Visibility.PRIVATE, "#staff")


async def test_a_channel_that_is_closed_to_everybody_later_is_private_from_then_on(
    server: DiscordServer, session: Session
) -> None:
    everyone = server.state.roles[session.guild.id]
    session.asks("one")
    await session.heard.of(PersonMessage, 1)
    server.rights(session.general, server.bot, allow=Permission.VIEW_CHANNEL)
    server.rights(session.general, session.ana, allow=Permission.VIEW_CHANNEL)
    server.rights(session.general, everyone, deny=Permission.VIEW_CHANNEL)
    session.asks("two")
    events = await session.heard.of(PersonMessage, 2)
    assert [event.scope.visibility for event in events] == [Visibility.PUBLIC, Visibility.PRIVATE]


async def test_a_thread_is_filed_with_its_channel_and_its_messages_name_it(
    server: DiscordServer, session: Session
) -> None:
    thread = server.thread(session.general, session.ana)
    asked = session.asks(channel=thread)
    [event] = await session.heard.of(PersonMessage, 1)

    assert (event.scope.channel, event.scope.thread) == (session.general.id, thread.id)
    assert (event.scope.place, event.scope.visibility) == ("#general", Visibility.PUBLIC)
    assert event.message_id == f"{thread.id}-{asked.id}"


async def test_a_private_thread_in_a_public_channel_is_a_private_place_of_its_own(
    server: DiscordServer, session: Session
) -> None:
    thread = server.private_thread(session.general, session.ana, server.bot)
    session.asks("what do we pay?", channel=thread)
    ref = await session.posted("Much.", workspace=session.workspace, channel=thread)
    server.reacts(session.ana, ref.message_id, "👍")
    asked, reacted = await session.settled()
    for event in (asked, reacted):
        assert (event.scope.channel, event.scope.thread, event.scope.visibility) == (thread.id, "", Visibility.PRIVATE)
    assert isinstance(reacted, PersonReaction)
    assert reacted.message_id == ref.message_id


async def test_a_reaction_in_a_thread_that_sleeps_is_filed_with_the_channel_too(server: DiscordServer) -> None:
    async with connected(server) as before:
        thread = server.thread(before.general, before.ana)
        ref = await before.posted(thread=thread.id)
        server.archives(thread)
    async with connected(server) as session:
        for emoji in ("👍", "👎"):
            server.reacts(session.ana, ref.message_id.rpartition("-")[2], emoji)
        events = await session.heard.of(PersonReaction, 2)

    assert {(event.scope.channel, event.scope.thread) for event in events} == {(ref.channel, thread.id)}
    assert {event.message_id for event in events} == {ref.message_id}
    assert len(server.calls(f"GET /channels/{thread.id}")) == 1


@pytest.mark.parametrize("trouble", [failing(503), rate_limited(3600.0), Reset()], ids=["503", "429", "reset"])
async def test_while_discord_cannot_be_asked_who_reads_a_place_that_is_a_guess(
    server: DiscordServer, trouble: Trouble
) -> None:
    async with connected(server) as before:
        thread = server.thread(before.general, before.ana)
        ref = await before.posted(thread=thread.id)
        server.archives(thread)
    async with connected(server) as session:
        fault = server.fault(f"GET /channels/{thread.id}", trouble, times=None)
        server.reacts(session.ana, ref.message_id.rpartition("-")[2], "👍")
        await session.heard.of(PersonReaction, 1)
        server.release(fault)
        server.fault(f"GET /channels/{thread.id}", refusing(MISSING_ACCESS))
        server.reacts(session.ana, ref.message_id.rpartition("-")[2], "👎")
        events = await session.heard.of(PersonReaction, 2)
    private = Visibility.PRIVATE
    told = [(event.scope.visibility, event.scope.is_visibility_known) for event in events]
    assert told == [(private, False), (private, True)]


# What is for the bot ------------------------------------------------------------------------------------------------


async def test_a_reply_with_ping_is_for_the_bot_and_one_without_is_not(server: DiscordServer, session: Session) -> None:
    ref = await session.posted()
    server.says(session.ana, session.general, "are you sure?", reply_to=ref.message_id)
    server.says(session.ana, session.general, "he is not", reply_to=ref.message_id, ping=False)
    events = await session.settled()
    assert [(e.text, e.address) for e in events if isinstance(e, PersonMessage)] == [("are you sure?", Address.MENTION)]
    assert len(events) == 1


async def test_who_calls_it_in_a_way_that_hides_the_words_is_told_once_how_to(
    server: DiscordServer, session: Session
) -> None:
    own_role = server.role(session.guild, "Goodbot", of_bot=server.bot.id)
    other_role = server.role(session.guild, "staff")
    ref = await session.posted()
    ben, stranger = server.person("ben", session.guild), server.person("other-bot", session.guild, is_bot=True)
    for person, text, reply in (
        (stranger, "thanks", ref.message_id),
        (ben, f"{other_role.mention} come here", None),
        (session.ana, "are you sure?", ref.message_id),
        (session.ana, "hello?", ref.message_id),
        (ben, f"{own_role.mention} capital of France?", None),
    ):
        server.says(person, session.general, text, reply_to=reply, ping=False)
    assert await session.settled() == []
    hints = server.said(session.general)[1:]
    assert [server.current(hint.reply_to).author.name for hint in hints] == ["ana", "ben"]
    assert all("leave the mention on" in hint.content and not hint.pings for hint in hints)


async def test_who_names_the_bot_s_role_is_heard_where_the_words_are_shown() -> None:
    async with (
        DiscordServer(granted=Intent.MESSAGE_CONTENT) as server,
        connected(server, reads="everything") as session,
    ):
        role = server.role(session.guild, "Goodbot", of_bot=server.bot.id)
        server.says(session.ana, session.general, f"{role.mention}: capital of France?")
        server.says(session.ana, session.general, f"{role.mention} help")
        asked, command = await session.settled()
        assert len(server.said(session.general)) == 0
    assert isinstance(asked, PersonMessage)
    assert isinstance(command, PersonCommand)
    assert (asked.text, asked.address, command.name) == ("capital of France?", Address.MENTION, "help")


async def test_what_is_said_in_a_thread_may_be_for_the_bot_once_it_is_shown() -> None:
    async with (
        DiscordServer(granted=Intent.MESSAGE_CONTENT) as server,
        connected(server, reads="everything") as session,
    ):
        thread = server.thread(session.general, session.ana)
        server.says(session.ana, thread, "and of Spain?")
        server.says(session.ana, thread, "correct: Madrid")
        server.says(session.ana, session.general, "not for the bot")
        event, correction = await session.settled()
    assert isinstance(event, PersonMessage)
    assert isinstance(correction, PersonCorrection)
    assert (event.text, event.address) == ("and of Spain?", Address.FOLLOW_UP)
    assert (correction.text, correction.address) == ("Madrid", Address.FOLLOW_UP)


async def test_without_the_intent_what_is_not_for_the_bot_is_never_an_event(
    server: DiscordServer, session: Session
) -> None:
    thread = server.thread(session.general, session.ana)
    server.says(session.ana, thread, "and of Spain?")
    server.says(session.ana, session.general, "hello all")
    assert await session.settled() == []
    assert [identify["intents"] for identify in server.identifies()] == [13825]


async def test_bots_webhooks_notices_and_the_bot_itself_are_ignored(server: DiscordServer, session: Session) -> None:
    other = server.person("other-bot", session.guild, is_bot=True)
    session.asks(person=other)
    session.asks(person=server.bot)
    server.webhook_says(session.general, f"{server.bot.mention} hello")
    session.asks(kind=7)
    ref = await session.posted()
    server.reacts(other, ref.message_id, "👍")
    assert await session.settled() == []


async def test_what_people_see_is_what_the_bot_reads(server: DiscordServer, session: Session) -> None:
    ben = server.person("ben", session.guild)
    session.asks(f"ask {ben.mention} in <#{session.general.id}> <:parrot:123456> {server.bot.mention} now")
    [event] = await session.heard.of(PersonMessage, 1)
    assert event.text == f"ask @Ben in #{session.general.id} :parrot: now".replace(session.general.id, "general")


async def test_allow_lists_of_people_roles_and_channels(server: DiscordServer) -> None:
    guild = server.guild("Home")
    general, other = server.channel(guild, "general"), server.channel(guild, "other")
    ana, ben, cat = (server.person(name, guild) for name in ("ana", "ben", "cat"))
    staff = server.role(guild, "staff")
    server.has_roles(ben, guild, staff)
    async with connected(server, allowed_people=(ana.id, staff.id), allowed_channels=(general.id,)) as session:
        thread = server.thread(general, ana)
        for person in (ana, ben, cat):
            session.asks(f"from {person.name}", person=person)
        session.asks("elsewhere", channel=other)
        session.asks("in a thread", channel=thread)
        server.says(ana, server.dm(ana), "direct")
        server.says(cat, server.dm(cat), "direct too")
        ref = await session.posted()
        server.reacts(cat, ref.message_id, "👍")
        server.reacts(ben, ref.message_id, "👍")
        await session.heard.of(PersonMessage, 4)
        [reaction] = await session.heard.of(PersonReaction, 1)
    said = {event.text for event in session.heard.events if isinstance(event, PersonMessage)}
    assert said == {"from ana", "from ben", "in a thread", "direct"}
    assert reaction.scope.person == ben.id


@pytest.mark.parametrize(
    ("settings", "right", "role"),
    [
        ({}, Permission.MANAGE_GUILD, Role.ADMIN),
        ({}, Permission.MANAGE_MESSAGES, Role.TEACHER),
        ({}, Permission.SEND_MESSAGES, Role.MEMBER),
        ({"managers": "teachers"}, Permission.MANAGE_GUILD, Role.TEACHER),
        ({"managers": "members"}, Permission.MANAGE_GUILD, Role.MEMBER),
        ({"managers": "members"}, Permission.MANAGE_GUILD | Permission.MANAGE_MESSAGES, Role.TEACHER),
        ({"moderators": "members"}, Permission.MANAGE_MESSAGES, Role.MEMBER),
        ({"teachers": ("ROLE",)}, Permission.MANAGE_GUILD, Role.TEACHER),
        ({"teachers": ("ROLE",)}, Permission.SEND_MESSAGES, Role.TEACHER),
        ({"admins": ("ROLE",), "teachers": ("ANA",)}, Permission.SEND_MESSAGES, Role.ADMIN),
        ({"teachers": ("ANA",)}, Permission.SEND_MESSAGES, Role.TEACHER),
    ],
)
async def test_who_decides(server: DiscordServer, settings: dict[str, Any], right: Permission, role: Role) -> None:
    guild = server.guild("Home")
    server.channel(guild, "general")
    ana = server.person("ana", guild)
    given = server.role(guild, "given", right)
    server.has_roles(ana, guild, given)
    ids = {"ROLE": given.id, "ANA": ana.id}
    known: dict[str, Any] = {
        key: value if isinstance(value, str) else tuple(ids[one] for one in value) for key, value in settings.items()
    }
    async with connected(server, **known) as session:
        session.asks()
        [event] = await session.heard.of(PersonMessage, 1)
        ref = await session.posted()
        server.reacts(ana, ref.message_id, "👍")
        [reaction] = await session.heard.of(PersonReaction, 1)
    assert (event.role, reaction.role) == (role, role)


# Files ---------------------------------------------------------------------------------------------------------------


async def test_text_files_are_read_and_others_say_why_not(server: DiscordServer, session: Session) -> None:
    files = [
        File(name="notes.txt", content="Grüße".encode(), media_type="text/plain"),
        File(name="big.log", content=b"x" * 64_001, media_type="text/plain"),
        File(name="photo.png", content=b"\x89PNG", media_type="image/png"),
        File(name="odd.txt", content=b"\xff\xfe\xfa", media_type="text/plain"),
    ]
    session.asks("see these", files=files)
    [event] = await session.heard.of(PersonMessage, 1)

    assert {file.name: file.text for file in event.files} == {
        "notes.txt": "Grüße",
        "big.log": "[not read: it has 64001 bytes; 64000 are read]",
        "photo.png": "[not read: it is no picture in PNG, JPEG, GIF or WebP]",
        "odd.txt": "[not read: it is no UTF-8 text]",
    }


async def test_a_file_that_does_not_come_holds_nothing_up_for_long(
    server: DiscordServer, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discord_files, "TIMEOUT_S", 0.01)
    server.fault("GET /attachments/**", Hang(), times=None)
    session.asks("see this", files=[File(name="notes.txt", content=b"x", media_type="text/plain")])
    [event] = await session.heard.of(PersonMessage, 1)
    server.clear_faults()
    assert [file.text for file in event.files] == ["[not read: it could not be fetched]"]


# Edits and deletions ------------------------------------------------------------------------------------------------


async def test_an_edit_is_told_once_and_a_preview_is_no_edit(server: DiscordServer, session: Session) -> None:
    asked = session.asks("capital of Frnce?")
    server.unfurls(asked)
    server.edits(asked, f"{server.bot.mention} capital of France?")
    server.unfurls(asked)
    events = await session.settled()
    edits = [event for event in events if isinstance(event, PersonEdit)]

    assert {(edit.text, edit.message_id) for edit in edits} == {("capital of France?", asked.id)}
    assert len({edit.event_id for edit in edits}) == 1
    assert edits[0].scope.person == session.ana.id
    assert isinstance(events[0], PersonMessage)


async def test_deletions_one_by_one_and_in_bulk(server: DiscordServer, session: Session) -> None:
    one, two, three = (session.asks(f"question {n}") for n in range(3))
    server.deletes(one)
    server.deletes(two, three)
    deletions = [event for event in await session.settled() if isinstance(event, PersonDeletion)]
    assert [event.message_id for event in deletions] == [one.id, two.id, three.id]
    assert len({event.event_id for event in deletions}) == 3
    assert {event.scope.channel for event in deletions} == {session.general.id}


async def test_a_mention_edited_into_a_message_calls_the_bot_once(server: DiscordServer, session: Session) -> None:
    said = server.says(session.ana, session.general, "capital of France?")
    server.edits(said, f"{server.bot.mention} capital of France?")
    server.edits(said, f"{server.bot.mention} capital of Spain?")
    events = await session.settled()
    asked = [event for event in events if isinstance(event, PersonMessage)]
    assert [(event.event_id, event.text, event.address) for event in asked] == [
        (said.id, "capital of France?", Address.MENTION),
    ]  # fmt: skip
    assert [event.text for event in events if isinstance(event, PersonEdit)][-1] == "capital of Spain?"


# Reactions ----------------------------------------------------------------------------------------------------------


async def test_emoji_that_teach_nothing_and_messages_of_others_cost_nothing(server: DiscordServer) -> None:
    async with connected(server, queries=replace(QUERIES, has_meaning=lambda emoji: emoji in ("👍", "👎"))) as session:
        asked = session.asks()
        ref = await session.posted()
        server.reacts(session.ana, ref.message_id, "🎈")
        server.reacts(session.ana, asked, "👍")
        server.reacts(session.ana, ref.message_id, "👍")
        server.unreacts(session.ana, ref.message_id, "🎈")
        events = [event for event in await session.settled() if isinstance(event, PersonReaction)]
    assert [(event.emoji, event.message_id, event.added) for event in events] == [("👍", ref.message_id, True)]


async def test_a_super_reaction_is_one_like_any_other(server: DiscordServer, session: Session) -> None:
    ref = await session.posted()
    server.reacts(session.ana, ref.message_id, "👍", burst=True)
    server.unreacts(session.ana, ref.message_id, "👍")
    events = [event for event in await session.settled() if isinstance(event, PersonReaction)]
    assert [(event.emoji, event.added) for event in events] == [("👍", True), ("👍", False)]


async def test_a_moderator_clears_one_emoji_or_all(server: DiscordServer, session: Session) -> None:
    ref = await session.posted()
    server.reacts(session.ana, ref.message_id, "👍🏽")
    server.clears_reactions(ref.message_id, "👍🏽")
    server.clears_reactions(ref.message_id)
    events = [event for event in await session.settled() if isinstance(event, ReactionsCleared)]
    assert [(event.emoji, event.message_id) for event in events] == [("👍🏽", ref.message_id), ("", ref.message_id)]
    assert len({event.event_id for event in events}) == 2


async def test_a_stop_sign_on_a_question_that_is_worked_on_stops_it(server: DiscordServer) -> None:
    async with connected(server, queries=replace(QUERIES, has_meaning=lambda emoji: False)) as session:
        asked = session.asks()
        server.reacts(session.ana, asked, "🛑")
        await session.settled()
        await session.messenger.progress(session.workspace, session.general.id, "", "thinking")
        ben = server.person("ben", session.guild)
        server.reacts(ben, asked, "🛑")
        line = await session.posted("⏳ thinking")
        server.unreacts(session.ana, asked, "🛑")
        server.reacts(session.ana, asked, "🛑")
        server.reacts(session.ana, line.message_id, "🛑")
        event, on_line = await session.heard.of(PersonCommand, 2)
        await session.settled()
        await session.messenger.progress(session.workspace, session.general.id, "", "")
    assert (event.name, event.scope.person, event.scope.channel) == ("stop", session.ana.id, session.general.id)
    assert (on_line.name, on_line.scope) == ("stop", event.scope)
    assert len([one for one in session.heard.events if isinstance(one, PersonCommand)]) == 2


# Words that are commands --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("help", "help", ""),
        ("", "help", ""),
        ("Why?", "why", ""),
        ("forget me", "forget", "me"),
        ("forget me yes", "forget", "me yes"),
        ("export csv", "export", "csv"),
        ("stop!", "stop", ""),
    ],
)
async def test_a_mention_with_nothing_but_a_command(
    server: DiscordServer, session: Session, text: str, name: str, argument: str
) -> None:
    session.asks(text)
    [event] = await session.settled()
    assert isinstance(event, PersonCommand)
    assert (event.name, event.argument, event.message_id) == (name, argument, "")


async def test_a_question_that_begins_like_a_command_is_a_question(server: DiscordServer, session: Session) -> None:
    session.asks("why is the sky blue?")
    server.says(session.ana, server.dm(session.ana), "stop the music how?")
    events = await session.settled()
    assert [type(event) for event in events] == [PersonMessage, PersonMessage]


async def test_a_command_or_correction_in_reply_to_an_answer_is_about_it(
    server: DiscordServer, session: Session
) -> None:
    ref = await session.posted()
    session.asks("why", reply_to=ref.message_id)
    server.says(session.ana, session.general, "correct: Lyon", reply_to=ref.message_id)
    why, correction = await session.settled()
    assert isinstance(why, PersonCommand)
    assert isinstance(correction, PersonCorrection)
    assert (why.name, why.message_id) == ("why", ref.message_id)
    assert (correction.text, correction.message_id) == ("Lyon", ref.message_id)


@pytest.mark.parametrize("text", ["In the blue box.", "correct: In the blue box."])
async def test_a_reply_to_the_question_after_a_rejection_is_the_correction(
    server: DiscordServer, session: Session, text: str
) -> None:
    direct = server.dm(session.ana)
    ref = await session.posted("On the hook.", channel=direct)
    await session.posted("Something else.", channel=direct)
    server.reacts(session.ana, ref.message_id, "👎")
    [rejected] = await session.heard.of(PersonReaction, 1)
    await session.messenger.ask_correction(rejected, ref, "What would have been right?")
    server.says(session.ana, direct, text, reply_to=server.said(direct)[-1])
    [correction] = await session.heard.of(PersonCorrection, 1)
    assert (correction.text, correction.message_id) == ("In the blue box.", ref.message_id)
