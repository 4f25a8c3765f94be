"""What the bot says in Slack: how it looks, and that it appears once whatever goes wrong."""

import re

import pytest

from bot.adapters.slack.threads import ANSWER_EVENT
from bot.errors import ChannelNotFound, MessengerError, MessengerUnavailable, NotPermitted, RateLimited, TooLong
from bot.model import BotMessage
from tests.doubles.slack import (
    ConnectionReset,
    RateLimited as Limited,
    Refused,
    ResponseLost,
    ServerBroken,
    SlackServer,
)
from tests.doubles.slack.faults import Fault
from tests.doubles.slack.state import Message
from tests.doubles.slack_driver import Session, connected
from tests.doubles.sleep import Naps


def words(message: Message) -> str:
    """What a person reads of a message."""
    return "".join(block["text"] for block in message.blocks if block["type"] == "markdown") or message.text


def has_thumbs(message: Message) -> bool:
    return any(block["type"] == "context_actions" for block in message.blocks)


# How it looks -----------------------------------------------------------------------------------------------------


async def test_an_answer_stands_in_its_thread_with_lessons_and_thumbs_and_rings_no_bell(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        question = ana.says(channel, "capital of France?")
        ref = await session.messenger.post(
            session.answer(
                channel,
                "**Paris** <!channel> @here <@U1>\n\n| a | b |\n|---|---|\n| 1 | 2 |",
                thread=question.ts,
                run_id="run-1",
                lessons=("“capital?” <!here> & more",),
            )
        )
    message = session.message(ref)
    assert (message.thread_ts, message.sent["unfurl_links"], message.sent["unfurl_media"]) == (
        question.ts,
        False,
        False,
    )
    assert [block["type"] for block in message.blocks] == ["markdown", "context", "context_actions"]
    assert words(message).startswith("**Paris** @")
    assert re.search(r"<[!@]|@(channel|here)", str(message.blocks) + message.text) is None
    assert message.text.startswith("*Paris* @")
    assert message.metadata == {"event_type": ANSWER_EVENT, "event_payload": {"run_id": "run-1", "part": 1}}


async def test_thumbs_stand_under_the_last_part_only_and_not_under_notices(server: SlackServer) -> None:
    ana = server.person("ana")
    async with connected(server) as session:
        first = await session.messenger.post(session.answer(ana.dm, run_id="r", part=1, is_last=False))
        last = await session.messenger.post(session.answer(ana.dm, run_id="r", part=2))
        notice = await session.messenger.post(session.notice(ana.dm, ana))
    assert [has_thumbs(session.message(ref)) for ref in (first, last, notice)] == [False, True, False]


async def test_the_longest_part_with_every_bell_in_it_can_be_posted(server: SlackServer) -> None:
    channel = server.channel("general")
    async with connected(server) as session:
        lessons = tuple("x" * 500 for _ in range(4))
        for part in session.messenger.split("@here " * 4000) + session.messenger.split("👍🏽" * 9000):
            await session.messenger.post(session.answer(channel, part, lessons=lessons))
    assert "@here" not in "".join(map(words, server.said_by_bot(channel)))


async def test_what_one_person_is_told_only_they_see(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        question = ana.says(channel, "hello")
        await session.messenger.post(session.notice(channel, ana, "For **you**.", thread=question.ts))
        await session.messenger.post(session.notice(ana.dm, ana, "In our DM."))
    [seen] = server.ephemerals(ana)
    assert (seen.channel, seen.thread_ts, seen.text) == (channel, question.ts, "For *you*.")
    assert server.said_by_bot(channel) == []
    assert [words(message) for message in server.said_by_bot(ana.dm)] == ["In our DM."]


async def test_where_a_person_cannot_be_told_alone_they_are_told_directly(server: SlackServer) -> None:
    ana = server.person("ana")
    elsewhere = server.workspace.add_channel("elsewhere", with_bot=False).id
    async with connected(server) as session:
        await session.messenger.post(session.notice(elsewhere, ana, "Noted."))
    assert [words(message) for message in server.said_by_bot(ana.dm)] == ["Noted."]


async def test_where_only_some_may_write_a_person_is_told_directly(server: SlackServer) -> None:
    ana, news = server.person("ana"), server.channel("news")
    server.faults.next("chat.postEphemeral", Refused("restricted_action"))
    async with connected(server) as session:
        await session.messenger.post(session.notice(news, ana, "I may not write there."))
    assert [words(message) for message in server.said_by_bot(ana.dm)] == ["I may not write there."]


async def test_where_blocks_are_refused_the_words_are_said_all_the_same(server: SlackServer) -> None:
    server.faults.next("chat.postMessage", Refused("invalid_blocks"))
    channel = server.channel("general")
    async with connected(server) as session:
        ref = await session.messenger.post(session.answer(channel, "**Paris** " + "x" * 5000))
    message = session.message(ref)
    assert (message.blocks, message.text) == ([], "*Paris* " + "x" * 5000)


# Once, whatever happens -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [ResponseLost(), ConnectionReset(), ServerBroken(502), Refused("internal_error")])
@pytest.mark.parametrize("in_thread", [True, False])
async def test_a_part_appears_once_when_the_answer_of_slack_is_lost(
    server: SlackServer, fault: Fault, in_thread: bool
) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server) as session:
        question = ana.says(channel, "hello?")
        thread = question.ts if in_thread else ""
        first = await session.messenger.post(session.answer(channel, "one", thread=thread, run_id="r", part=1))
        server.faults.next("chat.postMessage", fault)
        second = await session.messenger.post(session.answer(channel, "two", thread=thread, run_id="r", part=2))
    said = server.said_by_bot(channel)
    assert [words(message) for message in said] == ["one", "two"]
    assert [message.ts for message in said] == [first.message_id, second.message_id]


async def test_an_answer_posted_before_a_crash_is_found_after_the_restart(server: SlackServer) -> None:
    ana = server.person("ana")
    question = ana.says(ana.dm, "hello?")
    async with connected(server) as session:
        answer = session.answer(ana.dm, thread=question.ts, run_id="r", reply_to=question.ts)
        first = await session.messenger.post(answer)
    async with connected(server) as session:
        assert await session.messenger.post(answer) == first
        retry = session.answer(ana.dm, thread=question.ts, run_id="r2", reply_to=f"retry/V1/{ana.dm}/{question.ts}")
        assert await session.messenger.post(retry) != first
    assert len(server.said_by_bot(ana.dm)) == 2


async def test_an_answer_is_found_on_a_later_page_of_a_long_thread(server: SlackServer) -> None:
    ana = server.person("ana")
    question = ana.says(ana.dm, "hello?")
    async with connected(server) as session:
        for number in range(205):
            ana.says(ana.dm, str(number), thread_ts=question.ts)
        server.faults.next("chat.postMessage", ResponseLost())
        ref = await session.messenger.post(session.answer(ana.dm, thread=question.ts, run_id="r"))
    assert [message.ts for message in server.said_by_bot(ana.dm)] == [ref.message_id]


async def test_it_waits_as_long_as_slack_asks_but_not_for_ever(server: SlackServer) -> None:
    channel, naps = server.channel("general"), Naps()
    async with connected(server, naps=naps, max_wait_s=30.0) as session:
        server.faults.next("chat.postMessage", Limited(7), times=2)
        await session.messenger.post(session.answer(channel, "patience"))
        assert naps.taken == [7.0, 7.0]
        server.faults.next("chat.postMessage", Limited(20), times=None)
        with pytest.raises(RateLimited, match="wait 20 s") as limited:
            await session.messenger.post(session.answer(channel, "no"))
        assert limited.value.retry_after_s == 20.0
        server.faults.clear()
    assert naps.taken == [7.0, 7.0, 20.0]
    assert [words(message) for message in server.said_by_bot(channel)] == ["patience"]


async def test_no_time_to_wait_at_all_does_not_make_it_ask_for_ever(server: SlackServer) -> None:
    channel, naps = server.channel("general"), Naps()
    async with connected(server, naps=naps, max_wait_s=3.0) as session:
        server.faults.next("chat.postMessage", Limited(0), times=100)
        with pytest.raises(RateLimited):
            await session.messenger.post(session.answer(channel))
        server.faults.clear()
    assert naps.taken == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Refused("channel_not_found"), ChannelNotFound),
        (Refused("is_archived"), ChannelNotFound),
        (Refused("not_in_channel"), ChannelNotFound),
        (Refused("missing_scope", {"needed": "chat:write"}), NotPermitted),
        (Refused("restricted_action"), NotPermitted),
        (Refused("msg_too_long"), TooLong),
        (Refused("something_new"), MessengerError),
        (ServerBroken(503), MessengerUnavailable),
        (ConnectionReset(), MessengerUnavailable),
        (Limited(3600), RateLimited),
    ],
)
async def test_every_failure_is_one_of_the_bot_s_own(
    server: SlackServer, fault: Fault, kind: type[MessengerError]
) -> None:
    channel = server.channel("general")
    async with connected(server) as session:
        server.faults.next("chat.postMessage", fault, times=None)
        with pytest.raises(kind) as raised:
            await session.messenger.post(session.answer(channel))
        assert type(raised.value) is kind
        assert session.workspace.partition(":")[2] not in str(raised.value)
        assert "xoxb" not in str(raised.value)


async def test_an_archived_channel_and_one_it_was_taken_out_of_are_named(server: SlackServer) -> None:
    ana, archived, left = server.person("ana"), server.channel("archived"), server.channel("left")
    async with connected(server) as session:
        server.archive(archived, ana)
        server.remove_bot(left)
        for channel in (archived, left):
            with pytest.raises(ChannelNotFound, match=channel):
                await session.messenger.post(session.answer(channel))
        with pytest.raises(ChannelNotFound, match="slack:T0002"):
            await session.messenger.post(BotMessage(workspace="slack:T0002", channel=left, text="hi"))


# Streams ----------------------------------------------------------------------------------------------------------


async def streamed(session: Session, text: str, *faults: tuple[str, Fault]) -> Message:
    """An answer to a question of ana's in a channel, while things go wrong."""
    server = session.server
    ana, channel = server.person("ana"), server.channel("general")
    question = ana.says(channel, "a long answer please")
    await session.settled()
    for method, fault in faults:
        server.faults.next(method, fault)
    ref = await session.messenger.post(
        session.answer(channel, text, thread=question.ts, run_id="r", reply_to=question.ts, lessons=("a lesson",))
    )
    [said] = server.said_by_bot(channel)
    assert (said.ts, said.thread_ts) == (ref.message_id, question.ts)
    assert server.workspace.open_streams() == []
    return said


LONG = "\n\n".join(f"Paragraph {number}. " + "word " * 40 for number in range(40))


async def test_an_answer_streams_to_who_asked_and_ends_with_its_thumbs(server: SlackServer) -> None:
    async with connected(server, answers="stream") as session:
        message = await streamed(session, LONG)
    assert message.stream is not None
    assert (message.text, message.stream.state) == (LONG, "stopped")
    assert message.stream.appends >= 2
    assert message.metadata == {"event_type": ANSWER_EVENT, "event_payload": {"run_id": "r", "part": 1}}
    assert [block["type"] for block in message.blocks] == ["context", "context_actions"]
    [start] = server.calls("chat.startStream")
    assert start.args["recipient_user_id"] == server.person("ana").id
    assert start.args["recipient_team_id"] == "T0001"


async def test_an_answer_with_a_link_is_posted_for_a_stream_would_unfold_it(server: SlackServer) -> None:
    async with connected(server, answers="stream") as session:
        message = await streamed(session, f"See [the picture](https://x.org/cat.png). {LONG}")
    assert (message.stream, message.sent["unfurl_links"], message.sent["unfurl_media"]) == (None, False, False)


@pytest.mark.parametrize("fault", [Limited(5), Refused("feature_not_enabled"), ServerBroken(500), ConnectionReset()])
async def test_where_no_stream_can_begin_the_answer_is_posted(server: SlackServer, fault: Fault) -> None:
    naps = Naps()
    async with connected(server, answers="stream", naps=naps) as session:
        message = await streamed(session, LONG, ("chat.startStream", fault))
    assert (words(message), message.stream, naps.taken) == (LONG, None, [])
    assert has_thumbs(message)


@pytest.mark.parametrize(
    "faults",
    [
        [("chat.startStream", ResponseLost())],
        [("chat.appendStream", ResponseLost())],
        [("chat.appendStream", Refused("message_not_in_streaming_state"))],
        [("chat.appendStream", Refused("msg_too_long"))],
        [("chat.stopStream", ResponseLost())],
        [("chat.stopStream", ServerBroken(503))],
        [("chat.appendStream", ServerBroken(503)), ("chat.stopStream", ServerBroken(503))],
    ],
)
async def test_a_stream_that_breaks_off_ends_as_one_complete_message(
    server: SlackServer, faults: list[tuple[str, Fault]]
) -> None:
    async with connected(server, answers="stream") as session:
        message = await streamed(session, LONG, *faults)
    assert words(message).count("Paragraph 39.") == 1
    assert all(words(message).count(f"Paragraph {number}. ") == 1 for number in range(40))
    assert has_thumbs(message)


@pytest.mark.usefixtures("short_streams")
async def test_a_stream_that_began_unheard_is_found_in_slack_s_own_dialect(server: SlackServer) -> None:
    async with connected(server, answers="stream") as session:
        message = await streamed(session, "**Paris** & _London_ 🎉", ("chat.startStream", ResponseLost()))
    assert words(message) == "**Paris** & _London_ 🎉"
    assert has_thumbs(message)


@pytest.mark.usefixtures("short_streams")
async def test_a_stream_is_for_who_asked_and_not_for_who_wrote_last(server: SlackServer) -> None:
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    async with connected(server, answers="stream") as session:
        question = ana.says(channel, "a long answer please")
        await session.settled()
        ben.says(channel, "I wonder too", mention=False, thread_ts=question.ts)
        await session.settled()
        await session.messenger.post(session.answer(channel, thread=question.ts, run_id="r", reply_to=question.ts))
    [start] = server.calls("chat.startStream")
    assert start.args["recipient_user_id"] == ana.id


async def test_a_short_answer_is_one_call(server: SlackServer) -> None:
    async with connected(server, answers="stream") as session:
        message = await streamed(session, "Paris.")
    assert (words(message), message.stream, len(server.calls("chat.postMessage"))) == ("Paris.", None, 1)
    assert has_thumbs(message)


async def test_an_answer_nobody_is_known_to_have_asked_for_is_posted(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    question = ana.says(channel, "hello?", mention=False)
    async with connected(server, answers="stream") as session:
        ref = await session.messenger.post(session.answer(channel, LONG, thread=question.ts))
    assert session.message(ref).stream is None


# Marks and progress -----------------------------------------------------------------------------------------------


async def test_a_mark_is_the_bot_s_reaction_however_often_it_is_set(server: SlackServer) -> None:
    channel = server.channel("general")
    async with connected(server) as session:
        ref = await session.messenger.post(session.answer(channel))
        server.faults.next("reactions.add", ResponseLost())
        for _ in range(2):
            await session.messenger.mark(ref, "🧠", True)
        assert session.message(ref).reactions == {"brain": [server.workspace.bot.id]}
        for _ in range(2):
            await session.messenger.mark(ref, "🧠", False)
        assert session.message(ref).reactions == {}


async def test_without_the_scope_a_mark_is_not_permitted(server: SlackServer) -> None:
    channel = server.channel("general")
    server.workspace.scopes.discard("reactions:write")
    async with connected(server) as session:
        ref = await session.messenger.post(session.answer(channel))
        with pytest.raises(NotPermitted, match="add the scope reactions:write"):
            await session.messenger.mark(ref, "🧠", True)


async def test_the_session_shows_that_work_goes_on_until_it_ends(server: SlackServer) -> None:
    ana = server.person("ana")
    question = ana.says(ana.dm, "hello?")
    async with connected(server) as session:
        for text in ("thinking", "looking it up", ""):
            await session.messenger.progress(session.workspace, ana.dm, question.ts, text)
    assert [status.status for status in server.workspace.statuses] == ["processing", "active"]


async def test_without_agent_sessions_a_line_of_text_shows_it(server: SlackServer) -> None:
    server.faults.next("agents.sessions.setStatus", Refused("feature_not_enabled"), times=None)
    ana = server.person("ana")
    question = ana.says(ana.dm, "hello?")
    async with connected(server) as session:
        for text in ("thinking", "looking it up", ""):
            await session.messenger.progress(session.workspace, ana.dm, question.ts, text)
    assert [status.status for status in server.workspace.statuses] == ["is thinking...", "looking it up", ""]


async def test_a_thread_that_slack_gives_no_session_shows_a_line_and_the_next_one_its_session(
    server: SlackServer,
) -> None:
    server.faults.next("agents.sessions.setStatus", Refused("something_new"))
    ana = server.person("ana")
    questions = [ana.says(ana.dm, "hello?"), ana.says(ana.dm, "hello again?")]
    async with connected(server) as session:
        for question in questions:
            await session.messenger.progress(session.workspace, ana.dm, question.ts, "thinking")
    assert [status.status for status in server.workspace.statuses] == ["is thinking...", "processing"]


async def test_progress_is_never_waited_for_but_its_end_is(server: SlackServer) -> None:
    ana, naps = server.person("ana"), Naps()
    question = ana.says(ana.dm, "hello?")
    async with connected(server, naps=naps) as session:
        server.faults.next("agents.sessions.setStatus", Limited(5))
        with pytest.raises(RateLimited):
            await session.messenger.progress(session.workspace, ana.dm, question.ts, "thinking")
        assert naps.taken == []
        server.faults.next("agents.sessions.setStatus", Limited(5))
        await session.messenger.progress(session.workspace, ana.dm, question.ts, "")
    assert naps.taken == [5.0]
    assert server.workspace.status(ana.dm, question.ts) == ""
