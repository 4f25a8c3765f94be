"""Thumbs, modals, shortcuts, the slash command and App Home in Slack, clicked through the real slack-bolt."""

import asyncio
from typing import TypeVar

import pytest

from bot.adapters import forms
from bot.adapters.slack.incoming import acknowledgement
from bot.adapters.slack.outgoing import blocks
from bot.errors import MessengerUnavailable
from bot.model import (
    Attachment,
    MessageRef,
    PersonCommand,
    PersonCorrection,
    PersonEvent,
    PersonReaction,
    PersonRetry,
    PersonTeaching,
    PersonVote,
)
from memory.model import Audience, Role
from memory.model.saved_messages import FilledFrom
from tests.bot.adapters.messenger_contract import Heard
from tests.doubles.slack import CannotDo, Person, Refused, ServerBroken, SlackServer
from tests.doubles.slack.state import Message
from tests.doubles.slack_driver import Session, connected

E = TypeVar("E", bound=PersonEvent)


def of(heard: Heard, kind: type[E]) -> list[E]:
    return [event for event in heard.events if isinstance(event, kind)]


async def answered(session: Session, person: Person, channel: str) -> tuple[Message, MessageRef]:
    """A question of the person's and the bot's answer to it."""
    question = person.says(channel, "capital of Germany?")
    await session.settled()
    ref = await session.messenger.post(session.answer(channel, "Bonn.", thread=question.ts, run_id="run-1"))
    return question, ref


# Thumbs -----------------------------------------------------------------------------------------------------------


async def test_a_thumb_counts_before_its_modal_opens_and_cancelling_changes_nothing(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    heard = Heard()

    async def sink(event: PersonEvent) -> None:
        if isinstance(event, PersonVote):
            assert server.calls("views.open") == []
        await heard(event)

    async with connected(server, sink=sink, heard=heard) as session:
        question, ref = await answered(session, ana, channel)
        delivery = ana.rates(session.message(ref), good=False)
        await delivery.answered()
        modal = ana.modal()
        ana.closes()
        await session.settled()

    [vote] = of(heard, PersonVote)
    assert (vote.value, vote.message_id, vote.scope.thread) == (-1, ref.message_id, question.ts)
    assert (vote.scope.person, vote.role, vote.scope.place) == (ana.id, Role.MEMBER, "#general")
    assert modal.body["callback_id"] == blocks.CORRECTION_VIEW
    assert of(heard, PersonCorrection) == []


async def test_a_thumb_up_asks_nothing_and_each_press_is_an_event_of_its_own(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        _, ref = await answered(session, ana, channel)
        for good in (True, True):
            await ana.rates(session.message(ref), good=good).answered()
    votes = of(session.heard, PersonVote)
    assert [vote.value for vote in votes] == [1, 1]
    assert len({vote.event_id for vote in votes}) == 2
    assert votes[0].at < votes[1].at
    assert server.calls("views.open") == []


async def test_a_modal_that_does_not_open_leaves_the_vote_and_the_question_comes_as_a_message(
    server: SlackServer,
) -> None:
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    async with connected(server) as session:
        question, ref = await answered(session, ana, channel)
        server.faults.next("views.open", Refused("expired_trigger_id"), times=2)
        await ana.rates(session.message(ref), good=False).answered()
        [asked] = server.ephemerals(ana)
        assert (asked.thread_ts, server.ephemerals(ben)) == (question.ts, [])
        await ana.clicks(asked, blocks.TELL).answered()
        assert server.ephemerals(ana) == [asked]
        await ana.clicks(asked, blocks.TELL).answered()
        await ana.submits({forms.BETTER: "Berlin."}).answered()
        await server.wait_for(lambda: server.ephemerals(ana) == [])
    assert [vote.value for vote in of(session.heard, PersonVote)] == [-1]
    assert [correction.message_id for correction in of(session.heard, PersonCorrection)] == [ref.message_id]


async def test_thumbs_work_after_a_restart(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        _, ref = await answered(session, ana, channel)
    async with connected(server) as session:
        await ana.rates(session.message(ref), good=True).answered()
        assert [vote.message_id for vote in of(session.heard, PersonVote)] == [ref.message_id]


async def test_a_slow_vote_is_acknowledged_in_time_and_finished_before_the_end(
    server: SlackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acknowledgement, "DEADLINE_S", 0.05)
    ana, channel = server.person("ana"), server.channel("general")
    heard, gate = Heard(), asyncio.Event()

    async def sink(event: PersonEvent) -> None:
        if isinstance(event, PersonVote):
            await gate.wait()
        await heard(event)

    async with connected(server, sink=sink, heard=heard) as session:
        _, ref = await answered(session, ana, channel)
        await ana.rates(session.message(ref), good=True).answered()
        assert of(heard, PersonVote) == []
        gate.set()
    assert [vote.value for vote in of(heard, PersonVote)] == [1]


async def test_what_could_not_be_stored_is_not_acknowledged(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    heard, refused = Heard(), asyncio.Event()

    async def sink(event: PersonEvent) -> None:
        if isinstance(event, PersonVote) and not refused.is_set():
            refused.set()
            raise MessengerUnavailable("the store is away")
        await heard(event)

    async with connected(server, sink=sink, heard=heard) as session:
        _, ref = await answered(session, ana, channel)
        vote = ana.rates(session.message(ref), good=True)
        await refused.wait()
        await ana.rates(session.message(ref), good=True).answered()
    assert len(of(heard, PersonVote)) == 1
    assert not vote.acked


# Corrections ------------------------------------------------------------------------------------------------------


async def test_the_modal_brings_the_correction_its_reason_and_a_new_try(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server, teachers=(ana.id,)) as session:
        question, ref = await answered(session, ana, channel)
        await ana.rates(session.message(ref), good=False).answered()
        submitted = ana.submits({forms.BETTER: "Berlin.", forms.REASON: "wrong facts", forms.AGAIN: ["yes"]})
        await submitted.answered()
        with pytest.raises(CannotDo):
            ana.modal()

    [correction], [retry] = of(session.heard, PersonCorrection), of(session.heard, PersonRetry)
    assert (correction.text, correction.reason, correction.role) == ("Berlin.", "wrong facts", Role.TEACHER)
    assert (correction.message_id, correction.scope.thread) == (ref.message_id, question.ts)
    assert (retry.message_id, retry.scope.thread, retry.scope.person) == (ref.message_id, question.ts, ana.id)
    assert correction.event_id != retry.event_id


@pytest.mark.parametrize("entered", [{}, {forms.REASON: "wrong facts"}])
async def test_a_modal_without_a_text_is_no_correction_which_its_sender_is_told(
    server: SlackServer, entered: dict[str, str]
) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        _, ref = await answered(session, ana, channel)
        await ana.rates(session.message(ref), good=False).answered()
        await ana.submits(entered).answered()
        await server.wait_for(lambda: server.ephemerals(ana))
    assert [each.text for each in server.ephemerals(ana)] == [forms.NO_TEXT]
    assert of(session.heard, PersonCorrection) == []
    assert of(session.heard, PersonRetry) == []


async def test_after_a_reaction_the_question_is_asked_privately_and_each_button_works(server: SlackServer) -> None:
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    async with connected(server) as session:
        question, ref = await answered(session, ana, channel)
        ana.reacts(session.message(ref), "-1")
        [reaction] = await session.heard.of(PersonReaction, 1)
        for action, expected in ((blocks.TELL, PersonCorrection), (blocks.RETRY, PersonRetry), (blocks.NOT_NOW, None)):
            await session.messenger.ask_correction(reaction, ref, "What would have been *right*?")
            [asked] = server.ephemerals(ana)
            assert (asked.thread_ts, server.ephemerals(ben)) == (question.ts, [])
            before = len(session.heard.events)
            await ana.clicks(asked, action).answered()
            if action == blocks.TELL:
                await ana.submits({forms.BETTER: "Berlin."}).answered()
            await server.wait_for(lambda: server.ephemerals(ana) == [])
            assert [type(event) for event in session.heard.events[before:]] == ([expected] if expected else [])

    [correction], [retry] = of(session.heard, PersonCorrection), of(session.heard, PersonRetry)
    assert (correction.message_id, correction.scope.thread) == (ref.message_id, question.ts)
    assert (retry.message_id, retry.scope.thread) == (ref.message_id, question.ts)


async def test_the_question_finds_its_thread_after_a_restart(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        question, ref = await answered(session, ana, channel)
    async with connected(server) as session:
        ana.reacts(session.message(ref), "-1")
        [reaction] = await session.heard.of(PersonReaction, 1)
        await session.messenger.ask_correction(reaction, ref, "What would have been right?")
    assert [asked.thread_ts for asked in server.ephemerals(ana)] == [question.ts]


async def test_a_thumb_is_not_asked_twice(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        _, ref = await answered(session, ana, channel)
        await ana.rates(session.message(ref), good=False).answered()
        [vote] = of(session.heard, PersonVote)
        await session.messenger.ask_correction(vote, ref, "What would have been right?")
    assert server.ephemerals(ana) == []


# Shortcuts --------------------------------------------------------------------------------------------------------


async def test_any_message_can_be_made_a_lesson(server: SlackServer) -> None:
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    async with connected(server) as session:
        root = ana.says(channel, "where is the key?", mention=False)
        reply = ben.says(channel, "under the pot &amp; mat", mention=False, thread_ts=root.ts)
        await ana.uses_shortcut(reply, blocks.TEACH_SHORTCUT).answered()
        inputs = {block["block_id"]: block["element"] for block in ana.modal().body["blocks"]}
        assert inputs[forms.QUESTION]["initial_value"] == "where is the key?"
        assert inputs[forms.ANSWER]["initial_value"] == "under the pot & mat"
        await ana.submits({forms.ANSWER: "Under the blue pot.", forms.AUDIENCE: "channel"}).answered()
    [lesson] = of(session.heard, PersonTeaching)
    assert (lesson.question, lesson.answer) == ("where is the key?", "Under the blue pot.")
    assert (lesson.audience, lesson.scope.channel, lesson.scope.place) == (Audience.CHANNEL, channel, "#general")
    assert lesson.filled_from == (
        FilledFrom(message_id=root.ts, person=ana.id, text="where is the key?"),
        FilledFrom(message_id=reply.ts, person=ben.id, text="under the pot & mat", is_answer=True),
    )


async def test_a_question_from_which_somebody_teaches_is_the_question(server: SlackServer) -> None:
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    async with connected(server) as session:
        asked = ben.says(channel, "where is the key?", mention=False)
        await ana.uses_shortcut(asked, blocks.TEACH_SHORTCUT).answered()
        await ana.submits({forms.ANSWER: "Under the pot."}).answered()
    [lesson] = of(session.heard, PersonTeaching)
    assert (lesson.question, lesson.answer) == ("where is the key?", "Under the pot.")
    assert lesson.filled_from == (FilledFrom(message_id=asked.ts, person=ben.id, text="where is the key?"),)


async def test_who_wants_to_teach_is_told_when_no_form_opens(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        message = ana.says(channel, "the key is under the pot", mention=False)
        await session.settled()
        server.faults.next("views.open", Refused("expired_trigger_id"))
        await ana.uses_shortcut(message, blocks.TEACH_SHORTCUT).answered()
        [told] = await server.wait_for(lambda: server.ephemerals(ana))
    assert "try again" in told.text


async def test_thanks_for_a_lesson_from_a_conversation_of_others_come_directly(server: SlackServer) -> None:
    ana = server.person("ana")
    async with connected(server) as session:
        server.faults.next("chat.postMessage", Refused("channel_not_found"))
        await session.messenger.post(session.notice("D0FOREIGN", ana, "Saved."))
    assert [message.text for message in server.said_by_bot(ana.dm)] == ["Saved."]


async def test_a_lesson_can_be_made_where_the_bot_is_no_member(server: SlackServer) -> None:
    ana = server.person("ana")
    elsewhere = server.workspace.add_channel("elsewhere", private=True, with_bot=False).id
    async with connected(server) as session:
        message = ana.says(elsewhere, "under the pot", mention=False)
        await ana.uses_shortcut(message, blocks.TEACH_SHORTCUT).answered()
        await ana.submits({forms.QUESTION: "where is the key?"}).answered()
        [lesson] = of(session.heard, PersonTeaching)
        assert lesson.scope.visibility == "private"
        await session.messenger.post(session.notice(elsewhere, ana, "Saved.", thread=message.ts))
    assert [said.blocks[0]["text"] for said in server.said_by_bot(ana.dm)] == ["Saved."]


async def test_why_is_answered_to_the_person_alone(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    heard = Heard()

    async def sink(event: PersonEvent) -> None:
        await heard(event)
        if isinstance(event, PersonCommand):
            await session.messenger.post(session.notice(channel, ana, "**Because.**", thread=event.scope.thread))

    async with connected(server, sink=sink, heard=heard) as session:
        question, ref = await answered(session, ana, channel)
        await ana.uses_shortcut(session.message(ref), blocks.WHY_SHORTCUT).answered()
    [why] = of(heard, PersonCommand)
    assert (why.name, why.message_id, why.scope.thread) == ("why", ref.message_id, question.ts)
    assert [(seen.text, seen.user) for seen in server.ephemerals(ana)] == [("*Because.*", ana.id)]
    assert server.calls("chat.postEphemeral") == []


# The slash command ------------------------------------------------------------------------------------------------


async def test_the_slash_command_is_answered_privately_even_where_the_bot_is_no_member(server: SlackServer) -> None:
    ana = server.person("ana")
    elsewhere = server.workspace.add_channel("elsewhere", private=True, with_bot=False).id
    heard = Heard()

    async def sink(event: PersonEvent) -> None:
        await heard(event)
        await session.messenger.post(session.notice(event.scope.channel, ana, "Here *you* are."))

    async with connected(server, sink=sink, heard=heard) as session:
        await ana.commands(elsewhere, "/goodbot", "forget me").answered()
        await ana.commands(ana.dm, "/goodbot").answered()
    forget, helped = of(heard, PersonCommand)
    assert (forget.name, forget.argument, forget.scope.channel, forget.scope.thread) == ("forget", "me", elsewhere, "")
    assert (helped.name, helped.argument) == ("help", "")
    assert forget.event_id != helped.event_id
    assert [(seen.channel, seen.text) for seen in server.ephemerals(ana)] == [
        (elsewhere, "Here _you_ are."), (ana.dm, "Here _you_ are."),
    ]  # fmt: skip


async def test_stop_by_slash_command_means_what_was_begun_last_in_the_channel(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        first, second = ana.says(channel, "one"), ana.says(channel, "two")
        await session.settled()
        for question in (first, second):
            await session.messenger.progress(session.workspace, channel, question.ts, "thinking")
        await ana.commands(channel, "/goodbot", "stop").answered()
    [stop] = of(session.heard, PersonCommand)
    assert (stop.name, stop.scope.thread) == ("stop", second.ts)


# Files --------------------------------------------------------------------------------------------------------


async def test_a_file_is_handed_over_in_the_direct_conversation(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    export = Attachment(name="me.json", content=b'{"a": "\xc3\xbc"}', media_type="application/json")
    async with connected(server) as session:
        ana.says(channel, "talk", mention=False)
        await session.messenger.hand_over(session.notice(channel, ana, "Your data:"), export)
        await session.messenger.hand_over(session.notice(ana.dm, ana, "Again:"), export)
    assert server.said_by_bot(channel) == []
    assert [seen.text for seen in server.ephemerals(ana)] == ["I sent it to you in a direct message."]
    first, second = server.said_by_bot(ana.dm)
    assert [file.content for file in first.files] == [export.content]
    assert (first.text, second.text, first.files[0].name) == ("Your data:", "Again:", "me.json")


async def test_a_file_that_cannot_be_handed_over_is_an_error_of_the_bot_s_own(server: SlackServer) -> None:
    ana = server.person("ana")
    export = Attachment(name="me.json", content=b"{}", media_type="application/json")
    async with connected(server) as session:
        server.faults.next("files.getUploadURLExternal", ServerBroken(503))
        with pytest.raises(MessengerUnavailable):
            await session.messenger.hand_over(session.notice(ana.dm, ana, "Your data:"), export)


async def test_what_is_none_of_the_bot_s_is_acknowledged_and_dropped(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        message = ana.says(channel, "talk", mention=False)
        await ana.uses_shortcut(message, "somebody_else_s").answered()
        ana.leaves(channel)
        server.rate_limit_events()
        await session.settled()
    assert session.heard.events == []
