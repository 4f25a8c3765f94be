"""Who is heard on Discord, and how much: pace, loops, and what among people is meant for the bot."""

from bot.adapters.discord.plain_text import as_command
from bot.adapters.flow_control import LIMITS
from bot.model import Address, PersonCommand, PersonEdit, PersonMessage, PersonRateLimited, TextFile
from tests.doubles.discord import DiscordServer, File, Intent
from tests.doubles.discord_driver import connected


async def test_who_writes_like_a_program_is_not_heard_for_a_while_but_can_stop_it(server: DiscordServer) -> None:
    most = LIMITS[0].most
    async with connected(server) as session:
        loop = server.person("loop", session.guild)
        for number in range(most + 5):
            session.asks(f"no, you are wrong ({number})", person=loop)
        session.asks("hello?")
        session.asks("stop", person=loop)
        events = await session.settled()
    heard = [event.scope.person for event in events if isinstance(event, PersonMessage)]
    assert sorted(heard) == sorted([loop.id] * most + [session.ana.id])
    assert sum(isinstance(event, PersonRateLimited) for event in events) == 1
    assert [event.name for event in events if isinstance(event, PersonCommand)] == ["stop"]


async def test_two_bots_never_answer_each_other(server: DiscordServer) -> None:
    async with connected(server) as session:
        other = server.person("other", session.guild, is_bot=True)
        ref = await session.posted("Me.")
        for _ in range(3):
            server.says(other, session.general, f"{server.bot.mention} No, me.", reply_to=ref.message_id)
        server.says(other, server.dm(other), "No, me.")
        assert await session.settled() == []


async def test_stop_among_people_in_a_thread_counts_only_while_it_works_there() -> None:
    async with (
        DiscordServer(granted=Intent.MESSAGE_CONTENT) as server,
        connected(server, reads="everything") as session,
    ):
        thread = server.thread(session.general, session.ana)
        server.says(session.ana, thread, "stop")
        assert await session.settled() == []
        await session.messenger.progress(session.workspace, session.general.id, thread.id, "thinking")
        server.says(session.ana, thread, "stop")
        server.says(session.ana, thread, "why")
        stop, why = await session.settled()
        await session.messenger.progress(session.workspace, session.general.id, thread.id, "")
    assert isinstance(stop, PersonCommand)
    assert (stop.name, stop.scope.thread) == ("stop", thread.id)
    assert isinstance(why, PersonMessage)
    assert (why.text, why.address) == ("why", Address.FOLLOW_UP)


async def test_an_edit_of_a_question_keeps_its_files(server: DiscordServer) -> None:
    async with connected(server) as session:
        asked = session.asks("what is in it?", files=[File(name="a.txt", content=b"tea", media_type="text/plain")])
        await session.settled()
        server.edits(asked, f"{server.bot.mention} what is in there?")
        _, edit = await session.settled()
    assert isinstance(edit, PersonEdit)
    assert (edit.text, edit.files) == ("what is in there?", (TextFile(name="a.txt", text="tea"),))


def test_a_person_named_in_a_command_is_named_by_id() -> None:
    assert as_command("purge <@!22> yes", {"22": "Ana Maria"}) == "purge 22 yes"
    assert as_command("who is <@22>?", {"22": "Ana Maria"}) == "who is @Ana Maria?"
