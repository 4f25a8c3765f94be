"""Answers of more than two messages: in a thread, in a file, or all in the channel."""

from dataclasses import replace

from bot.model import MessageRef
from tests.doubles.discord import DiscordServer, Message, Permission, failing
from tests.doubles.discord_driver import Session, connected

TEXT = "\n\n".join(f"Paragraph {number}. " + "word " * 150 for number in range(9))
THREADS = "POST /channels/*/messages/*/threads"


async def answered(
    session: Session, text: str = TEXT, *, known: str = "", since: int = 1, **more: str
) -> list[MessageRef]:
    """Post an answer as the conversation does; `known` is its first message where an earlier process posted that."""
    parts, refs = session.messenger.split(text), list[MessageRef]()
    for number, part in enumerate(parts, start=1):
        if number < since:
            continue
        first = known or (refs[0].message_id if refs else "")
        where = {"part": number, "parts": len(parts), "first_message": first, "is_last": number == len(parts)}
        refs.append(await session.posted(part, run_id="r1", **where, **more))
    return refs


def words(*messages: Message) -> list[str]:
    return " ".join(message.content for message in messages).split()


async def test_it_goes_on_in_a_thread_under_its_first_message(server: DiscordServer) -> None:
    async with connected(server) as session:
        refs = await answered(session)
        [thread] = server.threads(session.general)
        [first], others = server.said(session.general), server.said(thread)
        assert thread.id == first.id
        assert len(others) == len(refs) - 1 >= 2
        assert words(first, *others) == TEXT.split()
        # Reactions find them as what they are: messages of a thread.
        assert [ref.message_id for ref in refs[1:]] == [f"{thread.id}-{each.id}" for each in others]
        assert [bool(each.components) for each in (first, *others)] == [False] * (len(refs) - 1) + [True]


async def test_what_a_crash_left_goes_on_in_the_same_thread(server: DiscordServer) -> None:
    async with connected(server) as session:
        refs = await answered(session)
        [thread] = server.threads(session.general)
        before = server.said(thread)
        server.deletes(*before[1:])
        await answered(session, known=refs[0].message_id, since=3)
        assert server.threads(session.general) == [thread]
        assert [each.content for each in server.said(thread)] == [each.content for each in before]


async def test_two_messages_stay_in_the_channel(server: DiscordServer) -> None:
    async with connected(server) as session:
        await answered(session, "word " * 700)
        assert len(server.said(session.general)) == 2
        assert server.threads(session.general) == []


async def test_where_no_thread_may_be_begun_all_of_it_is_in_the_channel(server: DiscordServer) -> None:
    async with connected(server) as session:
        everyone = server.state.guilds[session.guild.id].id
        role = server.state.roles[everyone]
        server.changes_role(replace(role, permissions=role.permissions & ~Permission.CREATE_PUBLIC_THREADS))
        await answered(session)
        assert words(*server.said(session.general)) == TEXT.split()
        assert server.threads(session.general) == []


async def test_a_thread_that_was_begun_although_discord_did_not_say_so_is_used(server: DiscordServer) -> None:
    async with connected(server) as session:
        server.fault(THREADS, failing(503))
        await answered(session)
        [thread] = server.threads(session.general)
        assert words(*server.said(session.general), *server.said(thread)) == TEXT.split()


async def test_in_direct_messages_and_in_threads_there_is_no_further_thread(server: DiscordServer) -> None:
    async with connected(server) as session:
        thread = server.thread(session.general, session.ana)
        await answered(session, thread=thread.id)
        direct = server.dm(session.ana)
        for number, part in enumerate(parts := session.messenger.split(TEXT), start=1):
            await session.posted(part, channel=direct, part=number, parts=len(parts), first_message="1")
        assert words(*server.said(thread)) == words(*server.said(direct)) == TEXT.split()
        assert server.calls(THREADS) == []


async def test_it_comes_as_a_file_with_its_beginning(server: DiscordServer) -> None:
    async with connected(server, long_answers="file") as session:
        [ref] = await answered(session)
        [said] = server.said(session.general)
        [file] = [each.file for each in said.attachments]
        assert (ref.message_id, file.content.decode(), file.name) == (said.id, TEXT, "answer.md")
        assert said.content.startswith("Paragraph 0.")
        assert said.content.endswith("-# the whole answer is in the file")
        assert said.components


async def test_or_all_of_it_is_in_the_channel(server: DiscordServer) -> None:
    async with connected(server, long_answers="messages") as session:
        await answered(session)
        assert words(*server.said(session.general)) == TEXT.split()
        assert server.threads(session.general) == []
