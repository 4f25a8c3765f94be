"""`correct: ...` typed in Slack, wherever a person may do so: it meets the answer of that thread, and they are told."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from memory.model import Verdict
from memory.ports import EpisodeFilter
from tests.bot.adapters.slack.conversing import say
from tests.doubles.slack import Person, SlackServer
from tests.doubles.whole_bot import SlackBot, slack_bot

KEY, DOOR = "where is the spare key?", "what is the code of the door?"
SAVED, NONE_YET = "Saved as your lesson", "There is no answer here yet."


def told(server: SlackServer, person: Person) -> list[str]:
    """What the bot told a person alone, outside of their direct conversation."""
    return [each.text for each in server.ephemerals(person)]


def taught(bot: SlackBot) -> dict[str, str]:
    """What was said to be right, by question."""
    episodes = bot.memory.audit.episodes(bot.session.workspace, EpisodeFilter(roots_only=True, limit=None))
    return {each.goal: each.correction for each in episodes if each.correction}


async def test_in_a_direct_message_it_meets_the_answer_of_its_thread_or_else_the_last(
    server: SlackServer, ana: Person, tmp_path: Path
) -> None:
    async with slack_bot(server, tmp_path) as bot:
        key, door = await say(bot, ana, ana.dm, KEY), await say(bot, ana, ana.dm, DOOR)
        first = await say(bot, ana, ana.dm, "correct: 4711")
        await say(bot, ana, ana.dm, "correct: Under the pot.", under=key)
        assert taught(bot) == {KEY: "Under the pot.", DOOR: "4711"}
    assert SAVED in server.said_by_bot(ana.dm, first.ts)[-1].text
    assert SAVED in server.said_by_bot(ana.dm, key.ts)[-1].text
    assert len(server.said_by_bot(ana.dm, door.ts)) == 1


@pytest.mark.parametrize("words", ["correct: Under the {}.", "no, under the {}"])
@pytest.mark.parametrize("restarted", [False, True])
async def test_an_edit_of_it_corrects_the_same_answer_anew(
    server: SlackServer, ana: Person, ben: Person, general: str, tmp_path: Path, words: str, restarted: bool
) -> None:
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(slack_bot(server, tmp_path, teachers=(ana.id,)))
        key = await say(bot, ana, general, KEY)
        correction = await say(bot, ana, general, words.format("pt"), under=key)
        await say(bot, ana, general, DOOR, under=key)
        if restarted:
            await stack.aclose()
            bot = await stack.enter_async_context(slack_bot(server, tmp_path, teachers=(ana.id,)))
        for _ in range(2):
            ana.edits(correction, words.format("pot"))
            await bot.settled()
        assert list(taught(bot)) == [KEY]
        asked = await say(bot, ben, general, KEY)
        assert "nder the pot" in server.said_by_bot(general, asked.ts)[-1].text
    assert sum("Saved as a lesson for everybody in #general" in text for text in told(server, ana)) == 2


async def test_after_a_restart_it_still_meets_the_answer_of_its_thread(
    server: SlackServer, ana: Person, general: str, tmp_path: Path
) -> None:
    async with slack_bot(server, tmp_path) as bot:
        key, direct = await say(bot, ana, general, KEY), await say(bot, ana, ana.dm, KEY + " really")
        await say(bot, ana, general, DOOR)
        await say(bot, ana, ana.dm, DOOR)
    async with slack_bot(server, tmp_path) as bot:
        await say(bot, ana, general, "correct: Under the pot.", under=key)
        await say(bot, ana, ana.dm, "correct: In the shed.", under=direct)
        assert taught(bot) == {KEY: "Under the pot.", KEY + " really": "In the shed."}
        await say(bot, ana, general, "why", under=key)
    saved, why = told(server, ana)
    assert SAVED in saved
    assert KEY in why
    assert SAVED in server.said_by_bot(ana.dm, direct.ts)[-1].text


@pytest.mark.parametrize("restarted", [False, True])
async def test_in_a_thread_the_bot_answered_in_it_needs_no_mention(
    server: SlackServer, ana: Person, general: str, tmp_path: Path, restarted: bool
) -> None:
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(slack_bot(server, tmp_path))
        key = await say(bot, ana, general, KEY)
        if restarted:
            await stack.aclose()
            bot = await stack.enter_async_context(slack_bot(server, tmp_path))
        await say(bot, ana, general, "correct: Under the pot.", under=key, mention=False)
        assert taught(bot) == {KEY: "Under the pot."}
    [saved] = told(server, ana)
    assert SAVED in saved
    assert len(server.said_by_bot(general, key.ts)) == 1


async def test_among_people_it_is_not_meant_for_the_bot(
    server: SlackServer, ana: Person, ben: Person, general: str, tmp_path: Path
) -> None:
    async with slack_bot(server, tmp_path) as bot:
        await say(bot, ana, general, KEY)
        theirs = await say(bot, ana, general, "two and two is five", mention=False)
        await say(bot, ben, general, "correct: four", under=theirs, mention=False)
        assert taught(bot) == {}
    assert told(server, ben) == []
    assert server.said_by_bot(general, theirs.ts) == []


async def test_where_there_is_no_answer_it_says_so(
    server: SlackServer, ana: Person, general: str, tmp_path: Path
) -> None:
    async with slack_bot(server, tmp_path) as bot:
        direct = await say(bot, ana, ana.dm, "correct: Under the pot.")
        await say(bot, ana, general, "correct: Under the pot.")
        await say(bot, ana, general, KEY)
        theirs = await say(bot, ana, general, "two and two is five", mention=False)
        await say(bot, ana, general, "correct: four", under=theirs)
        assert taught(bot) == {}
    assert [each.text for each in server.said_by_bot(ana.dm, direct.ts)] == [NONE_YET]
    assert told(server, ana) == [NONE_YET, NONE_YET]


async def test_somebody_else_s_answer_is_corrected_for_whoever_says_so(
    server: SlackServer, ana: Person, ben: Person, general: str, tmp_path: Path
) -> None:
    async with slack_bot(server, tmp_path) as bot:
        key = await say(bot, ana, general, KEY)
        await say(bot, ben, general, "correct: Under the pot.", under=key)
        assert taught(bot) == {KEY: "Under the pot."}
        again = await say(bot, ben, general, KEY)
        hers = await say(bot, ana, general, KEY)
    assert [SAVED in each for each in told(server, ben)] == [True]
    assert told(server, ana) == []
    assert "Under the pot." in server.said_by_bot(general, again.ts)[-1].text
    assert "Did you mean this?" in server.said_by_bot(general, hers.ts)[-1].text  # to others it is a proposal


@pytest.mark.parametrize("mention", [True, False])
async def test_without_its_colon_the_person_is_told_and_then_meets_the_right_answer(
    server: SlackServer, ana: Person, general: str, tmp_path: Path, mention: bool
) -> None:
    async with slack_bot(server, tmp_path) as bot:
        key = await say(bot, ana, general, KEY)
        await say(bot, ana, general, "correct Under the pot.", under=key, mention=mention)
        await say(bot, ana, general, "correct: Under the pot.", under=key, mention=mention)
        assert taught(bot) == {KEY: "Under the pot."}
    hint, saved = told(server, ana)
    assert "`@goodbot correct: ...`" in hint
    assert SAVED in saved
    assert len(server.said_by_bot(general, key.ts)) == 1


async def test_a_question_that_looks_like_a_correction_is_answered(
    server: SlackServer, ana: Person, general: str, tmp_path: Path
) -> None:
    request = "correct this sentence: teh cat"
    async with slack_bot(server, tmp_path) as bot:
        first = await say(bot, ana, general, request)  # There is no answer yet that it could be about.
        assert told(server, ana) == []
        assert len(server.said_by_bot(general, first.ts)) == 1
        await say(bot, ana, general, request, under=first)
        await say(bot, ana, general, request, under=first)
        assert taught(bot) == {}
    assert len(told(server, ana)) == 1
    # It is answered, and the answer, which is not known, not repeated.
    assert [first.ts in call.args["timestamp"] for call in server.calls("reactions.add")] == [False]
    assert len(server.said_by_bot(general, first.ts)) == 1


@pytest.mark.parametrize("typed", ["correct:", "Correct: "])
async def test_without_a_text_it_is_no_praise_and_the_person_is_asked_for_one(
    server: SlackServer, ana: Person, tmp_path: Path, typed: str
) -> None:
    async with slack_bot(server, tmp_path) as bot:
        await say(bot, ana, ana.dm, KEY)
        empty = await say(bot, ana, ana.dm, typed)
        assert taught(bot) == {}
        (root,) = bot.memory.audit.episodes(bot.session.workspace, EpisodeFilter(roots_only=True, limit=None))
        assert root.verdict is Verdict.PENDING
    [reply] = server.said_by_bot(ana.dm, empty.ts)
    assert "what would have been right?" in reply.text


async def test_help_names_it(server: SlackServer, ana: Person, tmp_path: Path) -> None:
    async with slack_bot(server, tmp_path) as bot:
        asked = await say(bot, ana, ana.dm, "help")
    assert "`@goodbot correct: ...`" in server.said_by_bot(ana.dm, asked.ts)[-1].text
