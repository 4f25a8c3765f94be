"""What people write in Slack, as the bot hears it: through the real slack-bolt."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.model import (
    Address,
    PersonCommand,
    PersonCorrection,
    PersonDeletion,
    PersonEdit,
    PersonMessage,
    PersonReaction,
    PersonVote,
    TextFile,
)
from memory.model import Role, Visibility
from tests.doubles.queries import QUERIES
from tests.doubles.slack import ConnectionReset, Enclosed, RateLimited, Refused, ServerBroken, SlackServer
from tests.doubles.slack.faults import Fault
from tests.doubles.slack_driver import Session, connected


async def heard_last(session: Session, marker: str = "the end") -> list[PersonMessage]:
    """All messages heard, once everything before this one has been handled."""
    zoe = session.server.person("zoe")
    zoe.says(zoe.dm, marker)
    await session.settled()
    return [event for event in session.heard.events if isinstance(event, PersonMessage) and event.text != marker]


# Where and from whom ----------------------------------------------------------------------------------------------


async def test_a_direct_message_begins_its_own_thread(server: SlackServer) -> None:
    ana = server.person("ana")
    async with connected(server) as session:
        question = ana.says(ana.dm, "capital of &lt;France&gt;?")
        [event] = await session.heard.of(PersonMessage, 1)

    scope = event.scope
    assert (event.text, event.address, event.role) == ("capital of <France>?", Address.DIRECT, Role.MEMBER)
    assert (scope.workspace, scope.channel, scope.person) == ("slack:T0001", ana.dm, ana.id)
    assert (scope.visibility, scope.place) == (Visibility.DIRECT, "DM")
    assert (event.message_id, scope.thread) == (question.ts, question.ts)
    assert f"{event.at.timestamp():.6f}" == question.ts


async def test_a_mention_comes_as_two_events_and_is_heard_once(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        question = ana.says(channel, "hello?")
        [event] = await heard_last(session)

    assert [delivery.event_type for delivery in server.deliveries.sent][:2] == ["message", "app_mention"]
    assert (event.text, event.address) == ("hello?", Address.MENTION)
    assert event.event_id == f"{channel}/{question.ts}"
    assert (event.scope.thread, event.scope.place) == (question.ts, "#general")


async def test_a_mention_is_heard_without_the_right_to_read_the_channel(server: SlackServer) -> None:
    server.slack.subscriptions = frozenset({"app_mention", "message.im"})
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        ana.says(channel, "hello?")
        [event] = await session.heard.of(PersonMessage, 1)
    assert (event.text, event.address) == ("hello?", Address.MENTION)


async def test_replies_in_a_thread_are_heard_and_other_talk_is_not(server: SlackServer) -> None:
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    async with connected(server) as session:
        root = ana.says(channel, "just talking", mention=False)
        ben.says(channel, "me too", mention=False, thread_ts=root.ts)
        ben.says(channel, "and here", mention=False, thread_ts=root.ts, broadcast=True)
        events = await heard_last(session)

    assert [(event.text, event.address) for event in events] == [
        ("me too", Address.FOLLOW_UP), ("and here", Address.FOLLOW_UP),
    ]  # fmt: skip
    assert {event.scope.thread for event in events} == {root.ts}


async def test_private_channels_are_private_and_looked_up_once(server: SlackServer) -> None:
    ana, secret = server.person("ana"), server.channel("secret", private=True)
    async with connected(server) as session:
        ana.says(secret, "one")
        ana.says(secret, "two")
        events = await heard_last(session)
    assert {(event.scope.visibility, event.scope.place) for event in events} == {(Visibility.PRIVATE, "#secret")}
    assert len(server.calls("conversations.info")) == 1


async def test_a_channel_that_cannot_be_looked_up_counts_as_private(server: SlackServer) -> None:
    server.faults.next("conversations.info", Refused("missing_scope", {"needed": "channels:read"}))
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        ana.says(channel, "hello?")
        [event] = await heard_last(session)
    assert event.scope.visibility is Visibility.PRIVATE


async def test_a_channel_is_asked_about_again_after_slack_was_out_of_reach(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        server.faults.next("conversations.info", ServerBroken(503), times=3)
        for text in ("one", "two"):
            ana.says(channel, text)
            await session.settled()
        heard = await session.heard.of(PersonMessage, 2)
    assert [(event.scope.visibility, event.scope.place) for event in heard] == [
        (Visibility.PRIVATE, channel), (Visibility.PUBLIC, "#general"),
    ]  # fmt: skip


@pytest.mark.parametrize("fault", [ServerBroken(503), RateLimited(3600), ConnectionReset()])
async def test_a_channel_that_was_known_is_as_it_was_while_slack_is_out_of_reach(
    server: SlackServer, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    monkeypatch.setattr("bot.adapters.slack.directory._TTL", timedelta(seconds=-1))  # over as soon as it was looked up
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        ana.says(channel, "one")
        await session.settled()
        server.faults.next("conversations.info", fault, times=None)
        ana.says(channel, "two")
        await session.settled()
        server.faults.clear()
        server.faults.next("conversations.info", Refused("channel_not_found"))
        ana.says(channel, "three")
        heard = await session.heard.of(PersonMessage, 3)
    public, private = Visibility.PUBLIC, Visibility.PRIVATE
    assert [(event.scope.visibility, event.scope.is_visibility_known, event.scope.place) for event in heard] == [
        (public, True, "#general"), (public, False, "#general"), (private, True, channel),
    ]  # fmt: skip


async def test_a_channel_that_other_organisations_read_is_neither_public_nor_private(server: SlackServer) -> None:
    ana, partners, general = server.person("ana"), server.channel("partners", shared=True), server.channel("general")
    async with connected(server) as session:
        ref = await session.messenger.post(session.answer(partners))
        ana.reacts(session.message(ref), "+1")
        ana.says(partners, "hello?")
        ana.says(general, "hello?")
        await session.settled()
        server.workspace.channels[general].shared = True
        ana.says(general, "hello again?")
        await session.settled()
        [reaction] = await session.heard.of(PersonReaction, 1)
        asked = await session.heard.of(PersonMessage, 3)
    seen = {(event.text, event.scope.place): event.scope.visibility for event in asked}
    assert seen == {
        ("hello?", "#partners"): Visibility.SHARED,
        ("hello?", "#general"): Visibility.PUBLIC,
        ("hello again?", "#general"): Visibility.SHARED,
    }
    assert reaction.scope.visibility is Visibility.SHARED


async def test_other_bots_and_the_bot_itself_are_not_heard(server: SlackServer) -> None:
    channel = server.channel("general")
    async with connected(server) as session:
        for classic in (False, True):
            server.other_bot("robot").says(channel, "hello bot", classic=classic)
        await session.messenger.post(session.answer(channel, "I said this"))
        server.person("ana").joins(channel)
        assert await heard_last(session) == []


async def test_only_those_on_the_list_are_heard(server: SlackServer) -> None:
    ana, ben, channel, other = server.person("ana"), server.person("ben"), server.channel("a"), server.channel("b")
    async with connected(
        server, allowed_users=(ana.id, server.person("zoe").id), allowed_channels=(channel,)
    ) as session:
        ben.says(ben.dm, "ben in a DM")
        ben.says(channel, "ben")
        ana.says(other, "ana elsewhere")
        ana.says(channel, "ana")
        ana.says(ana.dm, "ana in a DM")
        events = await heard_last(session)
    assert sorted(event.text for event in events) == ["ana", "ana in a DM"]


# Changes ----------------------------------------------------------------------------------------------------------


async def test_an_edit_and_a_deletion_name_the_message(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        question = ana.says(channel, "one")
        ana.edits(question, f"<@{server.workspace.bot.id}> two", mentions_again=True)
        ana.deletes(question)
        await session.settled()
    _, edit, deletion = session.heard.events
    assert isinstance(edit, PersonEdit)
    assert isinstance(deletion, PersonDeletion)
    assert (edit.message_id, edit.text, edit.scope.thread) == (question.ts, "two", question.ts)
    assert (deletion.message_id, deletion.scope.person) == (question.ts, ana.id)


async def test_a_deleted_question_with_replies_leaves_a_tombstone_and_is_a_deletion(server: SlackServer) -> None:
    ana = server.person("ana")
    async with connected(server) as session:
        question = ana.says(ana.dm, "one")
        await session.messenger.post(session.answer(ana.dm, thread=question.ts))
        ana.deletes(question)
        await session.settled()
    assert isinstance(session.heard.events[-1], PersonDeletion)
    assert session.heard.events[-1].message_id == question.ts


async def test_a_change_that_overtakes_its_message_holds_for_it(server: SlackServer) -> None:
    ana = server.person("ana")
    async with connected(server) as session:
        server.deliveries.hold()
        edited, deleted = ana.says(ana.dm, "old words"), ana.says(ana.dm, "never mind")
        ana.edits(edited, "new words")
        ana.deletes(deleted)
        server.deliveries.release(order=[2, 3, 0, 1])
        assert [event.text for event in await heard_last(session)] == ["new words"]


async def test_the_bot_s_own_messages_may_change_without_a_word(server: SlackServer) -> None:
    ana, channel = server.person("ana", admin=True), server.channel("general")
    async with connected(server) as session:
        ref = await session.messenger.post(session.answer(channel))
        ana.deletes(session.message(ref))
        await session.settled()
    assert session.heard.events == []


# Files ------------------------------------------------------------------------------------------------------------


async def test_text_files_come_with_the_question_and_others_say_why_not(server: SlackServer) -> None:
    ana = server.person("ana")
    files = [
        Enclosed("notes.md", "# Grüße".encode(), "text/markdown"),
        Enclosed("big.txt", b"x" * 64_001),
        Enclosed("cat.png", b"\x89PNG", "image/png"),
        Enclosed("latin.txt", "Grüße".encode("latin-1")),
    ]
    async with connected(server) as session:
        ana.says(ana.dm, "see these", files=files)
        [event] = await session.heard.of(PersonMessage, 1)
    assert event.files == (
        TextFile(name="notes.md", text="# Grüße"),
        TextFile(name="big.txt", text="[not read: it has 64001 bytes; 64000 are read]"),
        TextFile(name="cat.png", text="[not read: it is no picture in PNG, JPEG, GIF or WebP]"),
        TextFile(name="latin.txt", text="[not read: it is no UTF-8 text]"),
    )


async def test_a_file_in_a_channel_of_several_organisations_is_asked_for_by_its_id(server: SlackServer) -> None:
    ana, partners = server.person("ana"), server.channel("partners", shared=True)
    async with connected(server) as session:
        ana.says(partners, "see this", files=[Enclosed("notes.md", b"# Notes", "text/markdown")])
        [event] = await session.heard.of(PersonMessage, 1)
        server.faults.next("files.info", Refused("file_not_found"))
        ana.says(partners, "and this", files=[Enclosed("gone.md", b"# Gone", "text/markdown")])
        [_, other] = await session.heard.of(PersonMessage, 2)
    assert event.files == (TextFile(name="notes.md", text="# Notes"),)
    assert "could not be fetched" in other.files[0].text


async def test_slack_s_login_page_is_not_taken_for_the_file(server: SlackServer) -> None:
    ana = server.person("ana")
    server.workspace.scopes.discard("files:read")
    async with connected(server) as session:
        ana.says(ana.dm, "see this", files=[Enclosed("notes.txt", b"hi")])
        [event] = await session.heard.of(PersonMessage, 1)
    assert event.files == (TextFile(name="notes.txt", text="[not read: it could not be fetched]"),)


# Commands and stopping --------------------------------------------------------------------------------------------


async def test_words_after_a_mention_are_commands(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        question = ana.says(channel, "a question")
        await session.messenger.post(session.answer(channel, thread=question.ts))
        ana.says(channel, "why?", thread_ts=question.ts)
        ana.says(channel, "forget me")
        ana.says(channel, "correct: Berlin.", thread_ts=question.ts)
        await session.settled()
        ana.says(ana.dm, "memory")
        await session.settled()
    _, why, forget, correction, memory = session.heard.events
    assert isinstance(why, PersonCommand)
    assert (why.name, why.scope.thread, why.message_id) == ("why", question.ts, "")
    assert isinstance(forget, PersonCommand)
    assert (forget.name, forget.argument, forget.scope.thread) == ("forget", "me", "")
    assert isinstance(memory, PersonCommand)
    assert (memory.name, memory.scope.visibility) == ("memory", Visibility.DIRECT)
    assert isinstance(correction, PersonCorrection)
    assert (correction.text, correction.message_id) == ("Berlin.", "")


async def test_stop_by_word_by_sign_and_by_button_means_the_thread_that_is_worked_in(server: SlackServer) -> None:
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    cleo = server.person("cleo")
    async with connected(server, teachers=(cleo.id,)) as session:
        question, other = ana.says(channel, "a long one"), ana.says(channel, "unrelated")
        await session.settled()
        await session.messenger.progress(session.workspace, channel, question.ts, "thinking")
        ben.says(channel, "stop", mention=False, thread_ts=question.ts)
        ana.says(channel, "stop")
        ben.reacts(question, "octagonal_sign")
        ana.reacts(question, "octagonal_sign")
        cleo.reacts(question, "octagonal_sign")
        ben.reacts(other, "octagonal_sign")
        ana.stops(channel, question.ts)
        await session.settled()
    stops = [event for event in session.heard.events if isinstance(event, PersonCommand)]
    assert [(stop.name, stop.scope.thread) for stop in stops] == [("stop", question.ts)] * 5
    assert sorted((stop.scope.person, stop.role) for stop in stops) == sorted(
        [(ben.id, Role.MEMBER), *[(ana.id, Role.MEMBER)] * 3, (cleo.id, Role.TEACHER)]
    )
    assert len({stop.event_id for stop in stops}) == 5


async def test_who_asked_can_stop_it_by_sign_although_somebody_wrote_there_since(server: SlackServer) -> None:
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    async with connected(server) as session:
        question = ana.says(channel, "a long one")
        await session.settled()
        await session.messenger.progress(session.workspace, channel, question.ts, "thinking")
        ben.says(channel, "I wonder too", mention=False, thread_ts=question.ts)
        await session.settled()
        ana.reacts(question, "octagonal_sign")
        await session.settled()
    [stop] = [event for event in session.heard.events if isinstance(event, PersonCommand)]
    assert (stop.name, stop.scope.person, stop.scope.thread) == ("stop", ana.id, question.ts)


async def test_stop_outside_of_a_thread_means_the_person_s_own_question(server: SlackServer) -> None:
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    async with connected(server) as session:
        questions = [ana.says(channel, "a long one"), ben.says(channel, "another long one")]
        await session.settled()
        for question in questions:
            await session.messenger.progress(session.workspace, channel, question.ts, "thinking")
        ana.says(channel, "stop")
        await session.settled()
        await ben.commands(channel, "/goodbot", "stop").answered()
        await ana.commands(channel, "/goodbot", "stop").answered()
    stops = [event for event in session.heard.events if isinstance(event, PersonCommand)]
    assert [stop.scope.thread for stop in stops] == [questions[0].ts, questions[1].ts, questions[0].ts]


async def test_stop_means_nothing_where_nothing_is_worked_on(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        talk = ana.says(channel, "talk", mention=False)
        ana.says(channel, "stop", mention=False, thread_ts=talk.ts)
        ana.reacts(talk, "octagonal_sign")
        await session.settled()
    assert session.heard.events == []


async def test_a_stop_button_left_from_before_a_restart_goes_away(server: SlackServer) -> None:
    ana = server.person("ana")
    question = ana.says(ana.dm, "a long one")
    async with connected(server) as session:
        await session.messenger.progress(session.workspace, ana.dm, question.ts, "thinking")
    async with connected(server) as session:
        ana.stops(ana.dm, question.ts)
        await server.wait_for(lambda: server.workspace.status(ana.dm, question.ts) == "")
        await session.settled()
    assert [event for event in session.heard.events if isinstance(event, PersonCommand)] == []


# Reactions and roles ----------------------------------------------------------------------------------------------


async def test_most_reactions_cost_nothing(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server, queries=replace(QUERIES, has_meaning=lambda emoji: emoji.startswith("+1"))) as session:
        ref = await session.messenger.post(session.answer(channel))
        talk = ana.says(channel, "talk", mention=False)
        await session.settled()
        before = len(server.calls())
        ana.reacts(session.message(ref), "tada")
        ana.reacts(talk, "+1")
        await session.settled()
        assert session.heard.events == []
        assert len(server.calls()) == before
        ana.reacts(session.message(ref), "+1::skin-tone-3")
        [event] = await session.heard.of(PersonReaction, 1)
    assert (event.emoji, event.added, event.role) == ("+1::skin-tone-3", True, Role.MEMBER)


async def test_roles_come_from_lists_groups_and_accounts(server: SlackServer) -> None:
    workspace, channel = server.workspace, server.channel("general")
    people = {
        "admin": server.person("admin"),
        "teacher": server.person("teacher"),
        "grouped": server.person("grouped"),
        "member": server.person("member"),
        "guest": server.person("guest", guest="multi"),
        "stranger": server.person("stranger", external_team="T9999"),
    }
    group = workspace.add_group("teachers", [people["grouped"].id])
    async with connected(server, admins=(people["admin"].id,), teachers=(people["teacher"].id, group.id)) as session:
        ref = await session.messenger.post(session.answer(channel))
        for person in people.values():
            for emoji in ("+1", "tada"):
                person.reacts(session.message(ref), emoji)
        events = await session.heard.of(PersonReaction, 12)
    roles = {event.scope.person: event.role for event in events}
    assert {name: roles[person.id] for name, person in people.items()} == {
        "admin": Role.ADMIN, "teacher": Role.TEACHER, "grouped": Role.TEACHER,
        "member": Role.MEMBER, "guest": Role.GUEST, "stranger": Role.GUEST,
    }  # fmt: skip
    assert len(server.calls("usergroups.users.list")) == 1
    assert len(server.calls("users.info")) == 3


async def test_a_reaction_of_another_bot_is_a_bot_s(server: SlackServer) -> None:
    channel, robot = server.channel("general"), server.other_bot("robot")
    async with connected(server) as session:
        ref = await session.messenger.post(session.answer(channel))
        server.person("robot").reacts(session.message(ref), "+1")
        [event] = await session.heard.of(PersonReaction, 1)
    assert (event.scope.person, event.role) == (robot.user.id, Role.BOT)


async def test_a_stranger_in_a_shared_channel_is_a_guest(server: SlackServer) -> None:
    channel = server.channel("shared", shared=True)
    async with connected(server) as session:
        server.person("eve", external_team="T9999").says(channel, "hello?")
        [event] = await session.heard.of(PersonMessage, 1)
    assert event.role is Role.GUEST


async def test_a_member_of_several_workspaces_of_one_organisation_is_a_member_here_too(server: SlackServer) -> None:
    both, away, shared = server.person("both"), server.person("away"), server.channel("shared", shared=True)
    both.user.team_id, both.user.teams = "T9999", ("T9999", server.workspace.id)
    away.user.team_id, away.user.teams = "T9999", ("T9999",)
    async with connected(server, teachers=(both.id, away.id)) as session:
        ref = await session.messenger.post(session.answer(shared))
        for person in (both, away):
            await person.rates(session.message(ref), good=True).answered()
            person.says(shared, "help")
        await session.settled()
    by_person = {(type(each), each.scope.person): each.role for each in session.heard.events}
    assert by_person == {
        (PersonVote, both.id): Role.TEACHER, (PersonCommand, both.id): Role.TEACHER,
        (PersonVote, away.id): Role.GUEST, (PersonCommand, away.id): Role.GUEST,
    }  # fmt: skip


async def test_an_event_without_its_own_moment_happened_when_it_was_sent(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        question = ana.says(channel, "hello?")
        ref = await session.messenger.post(session.answer(channel, thread=question.ts))
        item = {"type": "message", "channel": channel, "ts": ref.message_id}
        event = {"type": "reaction_added", "user": ana.id, "reaction": "+1", "item": item}
        delivery = server.slack.emit(server.workspace, event)
        assert delivery is not None
        await delivery.answered()
        [reaction] = await session.heard.of(PersonReaction, 1)
    assert (reaction.emoji, int(reaction.at.timestamp())) == ("+1", delivery.payload["event_time"])
