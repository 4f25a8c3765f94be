"""What a message asks to remember, as a lesson: "remember that the alarm code is 4711"."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bot.conversation.feedback.edited_feedback import FORGOTTEN
from bot.conversation.feedback.note_in_words import Note, note_in
from memory.model import Visibility
from tests.doubles.discord import DiscordServer, Intent
from tests.doubles.openai_server import OpenAIServer, text
from tests.doubles.slack import SlackServer
from tests.doubles.whole_bot import discord_bot, slack_bot

CODE = "remember that the alarm code is 4711"


@pytest.mark.parametrize(
    ("text", "question", "statement"),
    [
        ("remember that the alarm code is 4711", "what is the alarm code?", "the alarm code is 4711"),
        (
            "Please remember, that our guests are now in room 5.",
            "what are our guests?",
            "our guests are now in room 5.",
        ),
        ("remember the alarm code is 4711", "what is the alarm code?", "the alarm code is 4711"),
        ("Don't forget our guests are in room 5.", "what are our guests?", "our guests are in room 5."),
        ("remember Ana's desk is the red one", "Ana's desk is the red one", "Ana's desk is the red one"),
        ("remember: 鍵は受付にあります", "鍵は受付にあります", "鍵は受付にあります"),
        ("note：钥匙在前台", "钥匙在前台", "钥匙在前台"),
        ("remember: กุญแจอยู่ที่โต๊ะ", "กุญแจอยู่ที่โต๊ะ", "กุญแจอยู่ที่โต๊ะ"),
        ("merk dir: der Türcode ist 4711", "der Türcode ist 4711", "der Türcode ist 4711"),
        ("note that Bianca owns the deploy", "Bianca owns the deploy", "Bianca owns the deploy"),
        ("Note: the office closes at 6", "the office closes at 6", "the office closes at 6"),
        ("don't forget that guests park behind it", "guests park behind it", "guests park behind it"),
        ("Merk dir, dass der Türcode 4711 ist", "der Türcode 4711 ist", "der Türcode 4711 ist"),
    ],
)
def test_a_statement_is_remembered_with_the_question_that_it_answers(text: str, question: str, statement: str) -> None:
    assert note_in(text) == Note(question, statement)


@pytest.mark.parametrize(
    "text",
    [
        "the alarm code is 4711",
        "remember to call Ana",
        "remember this",
        "remember the alarm code",
        "remember the guy who is bald and funny",
        "remember to ask what the code is now",
        "remember when the office is closed on Mondays",
        "remember me as the one who is late",
        "remember everything is fine here",
        "remember the office is closed tomorrow",
        "remember the answer is always 42",
        "remember the alarm code is 4711, then tell me a joke",
        "remember that",
        "note: 鍵",
        "note that down",
        "note that this is wrong",
        "remember that you are a bot",
        "remember that the code is 4711?",
        "note that the budget is 500, then compute 15% of it",
        "remember that the budget is 500 and tell me the time in Rome",
        "remember that the code is 4711. What is the door code?",
        "remember that please answer in French",
        "remember that time we went to Rome together",
        "remember that one about the chicken",
        "remember that was a joke for Ana",
        "note that most of them failed",
        "keep in mind that I am a beginner",
        "keep in mind that the user wants all of it as JSON",
        "note that I disagree with Bob",
        "remember that I have to call Ana on Friday at 9",
        "remember that the office is closed tomorrow",
        "Merk dir, dass der Laden heute zu ist",
        "Note: calculate 15% of 200",
        f"Note: the draft {'is good ' * 500}",
    ],
)
def test_any_other_message_is_an_ordinary_one(text: str) -> None:
    assert note_in(text) is None


async def test_slack(tmp_path: Path) -> None:
    async with SlackServer() as server:
        ana, general = server.person("ana"), server.channel("general")
        async with slack_bot(server, tmp_path) as bot:
            # What people say to each other is not kept.
            ana.says(general, "remember that the alarm code is 4711", mention=False)
            await bot.settled()
            assert bot.approved(bot.session.workspace) == []

            ana.says(general, "remember that the alarm code is 4711")
            await bot.settled()
            assert server.said_by_bot(general) == []
            assert server.ephemerals(ana)[-1].text.startswith("Saved as your lesson")
            asked = ana.says(general, "what's the alarm code?")
            await bot.settled()
            [answer] = server.said_by_bot(general, asked.ts)
            assert answer.text.startswith("the alarm code is 4711")

            # In a thread with the bot it needs no mention, and the later one replaces the earlier one.
            ana.says(general, "remember that the alarm code is 4712", thread_ts=asked.ts, mention=False)
            ana.commands(general, "/goodbot", "remember that the door code is 12")
            await bot.settled()
            await server.wait_for(lambda: len(server.ephemerals(ana)) == 3 or None)
            known = [*2 * ["what is the alarm code?"], "what is the door code?"]
            assert sorted(bot.approved(bot.session.workspace)) == known
            again = ana.says(general, "what's the alarm code?")
            await bot.settled()
            assert server.said_by_bot(general, again.ts)[0].text.startswith("the alarm code is 4712")
            ana.says(general, "undo")
            await bot.settled()
            assert server.ephemerals(ana)[-1].text == "Forgotten: your lesson for “what is the door code?”."


async def test_a_language_model_answers_it_too_as_it_may_be_about_the_conversation(tmp_path: Path) -> None:
    with OpenAIServer(lambda _: text("All right.")) as model:
        environment = {
            "GOODBOT_MODEL": "openai:test-model",
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "sk-test",
        }
        async with SlackServer() as server, slack_bot(server, tmp_path, environment) as bot:
            ana, general = server.person("ana"), server.channel("general")
            asked = ana.says(general, "remember that the alarm code is 4711")
            await bot.settled()
            assert [each.text for each in server.said_by_bot(general, asked.ts)] == ["All right."]
            assert server.ephemerals(ana)[-1].text.startswith("Saved as your lesson")
            assert bot.approved(bot.session.workspace) == ["what is the alarm code?"]
            ana.says(general, "and the door code?", thread_ts=asked.ts)
            await bot.settled()
            assert "remember that the alarm code is 4711" in str(model.asked[-1])


async def test_an_edited_note_is_taught_in_its_new_words(tmp_path: Path) -> None:
    async with SlackServer() as server, slack_bot(server, tmp_path) as bot:
        ana, general = server.person("ana"), server.channel("general")
        asked = ana.says(general, "what's the alarm code?")
        noted = ana.says(general, "remember that the door code is 12")
        await bot.settled()
        ana.edits(noted, f"<@{server.workspace.bot.id}> remember that the gate code is 13")
        await bot.settled()
        assert bot.approved(bot.session.workspace) == ["what is the gate code?"]
        assert server.ephemerals(ana)[-1].text.startswith("Saved as your lesson")
        ana.edits(asked, f"<@{server.workspace.bot.id}> remember that the alarm code is 4711")
        await bot.settled()
        assert sorted(bot.approved(bot.session.workspace)) == ["what is the alarm code?", "what is the gate code?"]


async def test_a_note_that_is_edited_twice_or_to_something_else_teaches_only_what_it_says_last(tmp_path: Path) -> None:
    async with SlackServer() as server, slack_bot(server, tmp_path) as bot:
        ana, general = server.person("ana"), server.channel("general")
        tag = f"<@{server.workspace.bot.id}>"
        noted = ana.says(general, "remember that the door code is 12")
        await bot.settled()
        for code in ("13", "14"):
            ana.edits(noted, f"{tag} remember that the gate code is {code}")
            await bot.settled()
        assert bot.approved(bot.session.workspace) == ["what is the gate code?"]
        ana.edits(noted, f"{tag} who keeps the codes?")
        await bot.settled()
        assert bot.approved(bot.session.workspace) == []
        assert server.ephemerals(ana)[-1].text == FORGOTTEN


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("words", ["remember that the door code is 12", "correct: 12"])
async def test_who_deletes_the_message_takes_back_what_it_taught_on_slack(
    tmp_path: Path, words: str, restarted: bool
) -> None:
    async with SlackServer() as server, AsyncExitStack() as stack:
        bot = await stack.enter_async_context(slack_bot(server, tmp_path))
        ana, general = server.person("ana"), server.channel("general")
        asked = ana.says(general, "what is the door code?")
        await bot.settled()
        noted = ana.says(general, words, thread_ts=asked.ts)
        await bot.settled()
        assert set(bot.approved(bot.session.workspace)) == {"what is the door code?"}
        if restarted:
            await stack.aclose()
            bot = await stack.enter_async_context(slack_bot(server, tmp_path))
        ana.deletes(noted)
        await bot.settled()
        assert bot.approved(bot.session.workspace) == []


@pytest.mark.parametrize("words", ["remember that the door code is 12", "correct: 12"])
async def test_who_deletes_the_message_takes_back_what_it_taught_on_discord(tmp_path: Path, words: str) -> None:
    async with DiscordServer() as server:
        async with discord_bot(server, tmp_path) as bot:
            bot.session.asks("what is the door code?")
            await bot.settled()
            noted = bot.session.asks(words)
            await bot.settled()
            assert set(bot.approved(bot.session.workspace)) == {"what is the door code?"}
        async with discord_bot(server, tmp_path) as bot:
            server.deletes(noted)
            await bot.settled()
            assert bot.approved(bot.session.workspace) == []


async def test_people_who_mention_nobody_teach_nothing_where_the_bot_answers_everything(tmp_path: Path) -> None:
    async with SlackServer() as server, slack_bot(server, tmp_path) as bot:
        ana, general = server.person("ana", admin=True), server.channel("general")
        ana.says(general, "mode always")
        await bot.settled()
        ana.says(general, CODE, mention=False)
        await bot.settled()
        assert bot.approved(bot.session.workspace) == []


async def test_an_edit_of_what_people_say_to_each_other_teaches_nothing_in_slack(tmp_path: Path) -> None:
    async with SlackServer() as server, slack_bot(server, tmp_path) as bot:
        ana, ben, general = server.person("ana"), server.person("ben"), server.channel("general")
        root = ana.says(general, "morning, Ben", mention=False)
        reply = ben.says(general, "morning", thread_ts=root.ts, mention=False)
        await bot.settled()
        ana.edits(root, CODE)
        ben.edits(reply, CODE)
        await bot.settled()
        assert bot.approved(bot.session.workspace) == []
        ana.edits(root, f"<@{server.workspace.bot.id}> {CODE}")
        await bot.settled()
        assert bot.approved(bot.session.workspace) == ["what is the alarm code?"]
        ana.edits(root, "remember that the gate code is 12")
        await bot.settled()
        assert bot.approved(bot.session.workspace) == ["what is the gate code?"]


async def test_an_edit_of_what_people_say_to_each_other_teaches_nothing_on_discord(tmp_path: Path) -> None:
    async with (
        DiscordServer(granted=Intent.MESSAGE_CONTENT) as server,
        discord_bot(server, tmp_path, reads="everything") as bot,
    ):
        thread = server.thread(bot.session.general, bot.session.ana)
        said = server.says(bot.session.ana, thread, "morning")
        await bot.settled()
        server.edits(said, CODE)
        await bot.settled()
        assert bot.approved(bot.session.workspace) == []


@pytest.mark.parametrize("admin", [False, True])
async def test_what_is_true_of_its_author_only_is_for_nobody_else(tmp_path: Path, admin: bool) -> None:
    async with SlackServer() as server, slack_bot(server, tmp_path) as bot:
        ana, ben = server.person("ana", admin=admin), server.person("ben", admin=True)
        general = server.channel("general")
        ana.says(general, "remember that my locker code is 12")
        ana.commands(general, "/goodbot", "remember that my locker is red")
        await bot.settled()
        await server.wait_for(lambda: len(server.ephemerals(ana)) == 2)
        assert all("only if a teacher promotes it" in each.text for each in server.ephemerals(ana))
        asked = ana.says(general, "what is my locker code?")
        await bot.settled()
        [answer] = server.said_by_bot(general, asked.ts)
        assert answer.text.startswith("my locker code is 12")
        ana.reacts(answer, "thumbsup")
        await bot.settled()
        for_him = ben.says(general, "what is my locker code?")
        await bot.settled()
        assert server.said_by_bot(general, for_him.ts)[0].text.startswith("I don't know that.")
        ben.says(general, "review")
        await bot.settled()
        assert "my locker is red - by ana in #general, now for its author, whom it is about" in (
            server.ephemerals(ben)[-1].text
        )
        ben.says(general, "remember that the door code is 13")
        await bot.settled()
        assert server.ephemerals(ben)[-1].text.startswith("Saved as a lesson for everybody")


async def test_who_reads_the_channel_is_noted_with_what_is_taught_there(tmp_path: Path) -> None:
    async with SlackServer() as server, slack_bot(server, tmp_path) as bot:
        ana, vault = server.person("ana"), server.channel("vault", private=True)
        ana.says(vault, "remember that the alarm code is 4711")
        await bot.settled()
        with bot.memory.store.read() as tx:
            channel = tx.channels.get(bot.session.workspace, vault)
        assert channel is not None
        assert channel.visibility is Visibility.PRIVATE


async def test_discord(tmp_path: Path) -> None:
    async with DiscordServer() as server, discord_bot(server, tmp_path) as bot:
        bot.session.asks("remember that the alarm code is 4711")
        await bot.settled()
        bot.session.asks("what's the alarm code?")
        await bot.settled()
        assert server.said(bot.session.general)[-1].content.startswith("the alarm code is 4711")
