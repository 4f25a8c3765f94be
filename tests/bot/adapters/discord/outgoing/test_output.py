"""What the bot says on Discord, as people there see it."""

import asyncio
import io
import zipfile
from dataclasses import replace

import pytest

from bot.adapters.discord.health_checks import RIGHTS, invite_link
from bot.errors import ChannelNotFound, MessengerUnavailable, NotPermitted, TooLong
from bot.model import Attachment, BotMessage, MessageRef, PersonReaction
from tests.bot.adapters.messenger_contract import Heard
from tests.doubles.discord import DiscordServer, MessageFlag, Permission, refusing
from tests.doubles.discord_driver import Session, connected, make_messenger

DATA = Attachment(name="export.json", content=b"{}", media_type="application/json")


# Answers ------------------------------------------------------------------------------------------------------------


async def test_an_answer_is_a_reply_that_pings_nobody_and_shows_no_previews(
    server: DiscordServer, session: Session
) -> None:
    asked = session.asks()
    await session.posted(f"@everyone see https://example.org {session.ana.mention}", reply_to=asked.id)
    [said] = server.said(session.general)

    assert said.reply_to == asked.id
    assert said.pings == frozenset()
    assert MessageFlag.SUPPRESS_EMBEDS in said.flags
    assert session.ana.mention not in said.content


async def test_only_the_last_part_has_buttons_and_only_the_first_is_a_reply(
    server: DiscordServer, session: Session
) -> None:
    asked = session.asks()
    await session.posted("one", reply_to=asked.id, part=1, is_last=False)
    await session.posted("two", reply_to=asked.id, part=2, is_last=True)
    first, last = server.said(session.general)
    buttons = [button["emoji"]["name"] for row in last.components for button in row["components"]]

    assert (first.reply_to, last.reply_to) == (asked.id, "")
    assert (first.components, buttons) == ((), ["👍", "👎", "✏️"])


async def test_the_lessons_stand_under_an_answer_in_small_print_while_there_is_room(
    server: DiscordServer, session: Session
) -> None:
    lessons = ("“capital of _Spain_?” (91% match, taught by <@7>)", "second")
    await session.posted("Paris.", lessons=lessons)
    await session.posted("x" * 1990, lessons=lessons)
    short, long = server.said(session.general)

    assert short.content.split("\n")[0] == "Paris."
    assert short.content.split("\n")[1].startswith("-# ↳ used lesson: “capital of \\_Spain\\_?” (91% match")
    assert short.content.split("\n")[2] == "-# ↳ used lesson: second"
    assert "<@7>" not in short.content
    assert long.content == "x" * 1990


async def test_a_question_that_is_gone_is_answered_without_a_quote(server: DiscordServer, session: Session) -> None:
    asked = session.asks()
    server.deletes(asked)
    await session.posted(reply_to=asked.id)
    await session.posted(reply_to="retry/123")
    assert [message.reply_to for message in server.said(session.general)] == ["", ""]


async def test_without_the_right_to_read_history_the_answer_comes_without_a_quote(
    server: DiscordServer, session: Session
) -> None:
    asked = session.asks()
    server.rights(session.general, server.bot, deny=Permission.READ_MESSAGE_HISTORY)
    await session.posted(reply_to=asked.id)
    assert [(message.content, message.reply_to) for message in server.said(session.general)] == [("Paris.", "")]


async def test_an_answer_that_the_server_blocks_is_owned_up_to_and_not_offered_again_and_again(
    server: DiscordServer, session: Session
) -> None:
    asked = session.asks()
    server.fault("POST /channels/*/messages", refusing(200000, message="Message was blocked by automatic moderation"))
    ref = await session.posted("a forbidden word", reply_to=asked.id)
    [said] = server.said(session.general)
    assert (said.id, said.reply_to) == (ref.message_id, asked.id)
    assert "AutoMod" in said.content
    assert "forbidden" not in said.content


async def test_an_answer_in_a_thread_and_in_direct_messages(server: DiscordServer, session: Session) -> None:
    thread, direct = server.thread(session.general, session.ana), server.dm(session.ana)
    asked = server.says(session.ana, thread, "hello")
    in_thread = await session.posted("there", thread=thread.id, reply_to=f"{thread.id}-{asked.id}")
    in_direct = await session.posted("here", channel=direct)
    [there], [here] = server.said(thread), server.said(direct)

    assert in_thread == MessageRef(
        workspace=session.workspace, channel=session.general.id, message_id=f"{thread.id}-{there.id}"
    )
    assert there.reply_to == asked.id
    assert in_direct == MessageRef(workspace="discord:dm", channel=direct.id, message_id=here.id)


async def test_an_answer_above_the_limit_is_refused_and_a_notice_takes_several_messages(
    server: DiscordServer, session: Session
) -> None:
    with pytest.raises(TooLong) as refused:
        await session.posted("x" * 2001)
    notice = BotMessage(workspace=session.workspace, channel=session.general.id, text="word " * 1000)
    ref = await session.messenger.post(notice)
    said = server.said(session.general)

    assert refused.value.limit == 2000
    assert len(said) == 3
    assert ref.message_id == said[-1].id
    assert sum(message.content.count("word") for message in said) == 1000


# Marks --------------------------------------------------------------------------------------------------------------


async def test_marks_come_and_go_on_answers_in_channels_and_threads(server: DiscordServer, session: Session) -> None:
    thread = server.thread(session.general, session.ana)
    for ref in (await session.posted(), await session.posted(thread=thread.id)):
        message = ref.message_id.rpartition("-")[2]
        await session.messenger.mark(ref, "🧠", True)
        assert server.marks(message) == ["🧠"]
        await session.messenger.mark(ref, "🧠", False)
        await session.messenger.mark(ref, "🧠", False)
        assert server.marks(message) == []


async def test_a_mark_without_the_right_and_on_what_is_gone(server: DiscordServer, session: Session) -> None:
    ref, gone = await session.posted(), await session.posted()
    server.deletes(gone.message_id)
    server.rights(session.general, server.bot, deny=Permission.ADD_REACTIONS)
    with pytest.raises(NotPermitted, match="permission"):
        await session.messenger.mark(ref, "🧠", True)
    await session.messenger.mark(gone, "🧠", False)


# Refusals -----------------------------------------------------------------------------------------------------------


async def test_channels_that_are_closed_gone_or_left_are_named(server: DiscordServer, session: Session) -> None:
    closed, hidden, gone = (server.channel(session.guild, name) for name in ("closed", "hidden", "gone"))
    server.rights(closed, server.bot, deny=Permission.SEND_MESSAGES)
    server.rights(hidden, server.bot, deny=Permission.VIEW_CHANNEL)
    server.deletes_channel(gone)
    with pytest.raises(NotPermitted, match=closed.id):
        await session.posted(channel=closed)
    for channel in (hidden, gone):
        with pytest.raises(ChannelNotFound, match=channel.id):
            await session.posted(channel=channel)
    server.removes_bot(session.guild)
    with pytest.raises(ChannelNotFound, match=session.general.id):
        await session.posted()


async def test_where_it_may_not_write_a_person_is_told_directly(server: DiscordServer, session: Session) -> None:
    server.rights(session.general, server.bot, deny=Permission.SEND_MESSAGES)
    notice = BotMessage(
        workspace=session.workspace,
        channel=session.general.id,
        text="I may not write there.",
        private_to=session.ana.id,
    )
    await session.messenger.post(notice)
    assert [said.content for said in server.said(server.dm(session.ana))] == ["I may not write there."]
    with pytest.raises(NotPermitted):
        await session.messenger.post(replace(notice, private_to=""))


@pytest.mark.parametrize("words", ["Noted.", "Noted, at length. " * 200])
async def test_everybody_sees_whom_a_notice_in_a_server_is_for(
    server: DiscordServer, session: Session, words: str
) -> None:
    asked = session.asks("why?")
    notice = BotMessage(workspace=session.workspace, channel=session.general.id, text=words, private_to=session.ana.id)
    await session.messenger.post(replace(notice, reply_to=asked.id))
    await session.messenger.post(notice)
    said = server.said(session.general)
    replies, named = said[: len(said) // 2], said[len(said) // 2 :]
    assert (replies[0].reply_to, named[0].reply_to) == (asked.id, "")
    assert named[0].content == f"{session.ana.mention} {replies[0].content}" or len(said) > 2
    assert named[0].content.startswith(f"{session.ana.mention} Noted")
    assert all(not each.pings and len(each.content) <= 2000 for each in said)


async def test_a_locked_thread_takes_nothing(server: DiscordServer, session: Session) -> None:
    thread = server.thread(session.general, session.ana)
    server.archives(thread, locked=True)
    with pytest.raises(NotPermitted):
        await session.posted(thread=thread.id)


async def test_after_it_was_closed_nothing_can_be_said(server: DiscordServer) -> None:
    async with connected(server) as session:
        pass
    with pytest.raises(MessengerUnavailable, match="not logged in"):
        await session.posted()


async def test_what_an_earlier_process_left_is_said_once_the_bot_is_logged_in(server: DiscordServer) -> None:
    async with connected(server) as session:
        general = session.general
    messenger = make_messenger(server)
    posting = asyncio.create_task(messenger.post(session.answer("still here")))
    running = asyncio.ensure_future(messenger.run(Heard()))
    await posting
    await messenger.close()
    await running
    assert [message.content for message in server.said(general)] == ["still here"]


# Work, files, questions -----------------------------------------------------------------------------------------------


async def test_typing_is_shown_while_it_works(server: DiscordServer, session: Session) -> None:
    thread = server.thread(session.general, session.ana)
    await session.messenger.progress(session.workspace, session.general.id, "", "thinking")
    await session.messenger.progress(session.workspace, session.general.id, "", "still thinking")
    await session.messenger.progress(session.workspace, session.general.id, thread.id, "thinking")
    await server.until(lambda: server.typing(thread) == 1 and server.typing(session.general) == 1)
    for place in ("", "", thread.id):
        await session.messenger.progress(session.workspace, session.general.id, place, "")


async def test_typing_that_may_not_be_shown_harms_nothing(server: DiscordServer, session: Session) -> None:
    server.rights(session.general, server.bot, deny=Permission.SEND_MESSAGES)
    await session.messenger.progress(session.workspace, session.general.id, "", "thinking")
    await server.until(lambda: server.calls("POST /channels/*/typing"))
    await session.messenger.progress(session.workspace, session.general.id, "", "")


async def test_a_file_goes_to_direct_messages(server: DiscordServer, session: Session) -> None:
    message = BotMessage(
        workspace=session.workspace, channel=session.general.id, text="Your data:", private_to=session.ana.id
    )
    await session.messenger.hand_over(message, DATA)
    [said] = server.said(server.dm(session.ana))

    assert server.said(session.general) == []
    assert (said.content, [one.file.name for one in said.attachments]) == ("Your data:", ["export.json"])
    assert said.attachments[0].file.content == b"{}"


async def test_a_file_that_is_too_large_comes_compressed(server: DiscordServer, session: Session) -> None:
    content = b'{"said": "the same"}\n' * 600_000
    message = BotMessage(workspace=session.workspace, channel=session.general.id, text="", private_to=session.ana.id)
    await session.messenger.hand_over(
        message, Attachment(name="export.json", content=content, media_type="application/json")
    )
    [file] = [one.file for one in server.said(server.dm(session.ana))[0].attachments]
    assert file.name == "export.json.zip"
    with zipfile.ZipFile(io.BytesIO(file.content)) as archive:
        assert archive.read("export.json") == content


async def test_a_file_for_somebody_who_takes_no_direct_messages(server: DiscordServer, session: Session) -> None:
    shy = server.person("shy", session.guild, accepts_dms=False)
    message = BotMessage(workspace=session.workspace, channel=session.general.id, text="x", private_to=shy.id)
    with pytest.raises(NotPermitted):
        await session.messenger.hand_over(message, DATA)


async def test_after_a_rejection_it_asks_in_direct_messages_only(server: DiscordServer, session: Session) -> None:
    direct = server.dm(session.ana)
    for ref in (await session.posted(), await session.posted(channel=direct)):
        server.reacts(session.ana, ref.message_id, "👎")
    for event in await session.heard.of(PersonReaction, 2):
        ref = MessageRef(workspace=event.scope.workspace, channel=event.scope.channel, message_id=event.message_id)
        await session.messenger.ask_correction(event, ref, "What would have been right?")
    _, question = server.said(direct)

    assert len(server.said(session.general)) == 1
    assert question.content == "What would have been right? Or reply to this message."
    assert question.reply_to == server.said(direct)[0].id
    click = server.clicks(session.ana, question, "Tell me")
    await server.until(lambda: click.modal)


def test_the_invitation_asks_for_what_is_used_and_no_more() -> None:
    link = invite_link("MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde.secret")
    assert "client_id=123456789012345678" in link
    assert "scope=bot+applications.commands" in link
    assert f"permissions={RIGHTS.value}" in link
    assert "secret" not in link
    assert [invite_link(wrong) for wrong in ("", "abc", "ä.b.c", "discord-token")] == [""] * 4


async def test_commands_are_spelt_as_they_are_typed(session: Session) -> None:
    spelt = [session.messenger.how_to_type(each) for each in ("why", "forget", "forget yes", "correct")]
    assert spelt == ["/goodbot why", "/goodbot forget-me", "/goodbot forget-me confirm:yes", "@Goodbot correct:"]
