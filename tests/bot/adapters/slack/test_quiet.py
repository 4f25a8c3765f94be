"""The whole bot among people in Slack: what it answers without a mention, and what counts where it is quiet."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.adapters import forms
from bot.adapters.slack.outgoing import blocks
from tests.bot.adapters.slack.conversing import say
from tests.doubles.slack import Person, RateLimited, ServerBroken, SlackServer
from tests.doubles.slack.faults import Fault
from tests.doubles.slack.state import Message
from tests.doubles.whole_bot import SlackBot, slack_bot

SUM, MORE = "what is 6*7?", "what is 6*8?"


@pytest.fixture
async def bot(server: SlackServer, tmp_path: Path) -> AsyncIterator[SlackBot]:
    async with slack_bot(server, tmp_path) as running:
        yield running


async def says(bot: SlackBot, person: Person, root: Message, *texts: str) -> None:
    """Say things in the thread without a mention of the bot."""
    for text in texts:
        await say(bot, person, root.channel, text, under=root, mention=False)


def said(bot: SlackBot, root: Message) -> list[str]:
    return [each.text.split("\n")[0] for each in bot.session.server.said_by_bot(root.channel, root.ts)]


async def test_between_people_it_stays_quiet(bot: SlackBot, ana: Person, ben: Person, general: str) -> None:
    root = await say(bot, ana, general, SUM)
    await says(bot, ana, root, f"<@{ben.id}> can you check?", "thx")
    await says(bot, ben, root, "sure", "what is 1+1?", "looks right")
    await says(bot, ana, root, "and when?", "<!here> is lunch", "ok")
    assert said(bot, root) == ["6 * 7 = 42"]


async def test_alone_with_it_follow_ups_are_answered(bot: SlackBot, ana: Person, general: str) -> None:
    root = await say(bot, ana, general, SUM)
    await says(bot, ana, root, MORE, "thanks!", "6*9")
    assert said(bot, root) == ["6 * 7 = 42", "6 * 8 = 48", "6 * 9 = 54"]


async def test_in_a_thread_somebody_else_began_its_asker_may_go_on_right_after_its_answer(
    bot: SlackBot, ana: Person, ben: Person, general: str
) -> None:
    root = ben.says(general, "six by seven?", mention=False)
    await say(bot, ana, general, SUM, under=root)
    await says(bot, ana, root, MORE)
    await says(bot, ben, root, "what is 1+1?")
    await says(bot, ana, root, "what is 2+2?")
    assert said(bot, root) == ["6 * 7 = 42", "6 * 8 = 48"]


@pytest.mark.parametrize("fault", [ServerBroken(503), RateLimited(30)], ids=["503", "429"])
async def test_it_is_quiet_where_slack_does_not_say_who_else_is_there(
    bot: SlackBot, server: SlackServer, ana: Person, general: str, fault: Fault
) -> None:
    root = await say(bot, ana, general, SUM)
    server.faults.next("conversations.replies", fault, times=None)
    await says(bot, ana, root, MORE)
    server.faults.clear()
    assert len(said(bot, root)) == 1
    await says(bot, ana, root, MORE)
    assert len(said(bot, root)) == 2


async def test_a_mute_lasts_until_a_mention_and_all_that_teaches_counts_meanwhile(
    bot: SlackBot, server: SlackServer, ana: Person, ben: Person, general: str, tmp_path: Path
) -> None:
    root = await say(bot, ana, general, SUM)
    [answer] = server.said_by_bot(general, root.ts)
    ben.reacts(answer, "zipper_mouth_face")
    await bot.settled()
    await says(bot, ana, root, MORE)
    assert len(said(bot, root)) == 1

    ana.reacts(answer, "+1")
    await bot.settled()
    assert bot.votes(bot.session.workspace) == [(ana.id, 1)]
    await ana.rates(answer, good=False).answered()
    await ana.submits({forms.BETTER: "Forty-two."}).answered()
    await bot.settled()
    assert (ana.id, -1) in bot.votes(bot.session.workspace)
    assert any("Saved as" in each.text for each in server.ephemerals(ana))

    await say(bot, ana, general, MORE, under=root)
    await says(bot, ana, root, MORE)
    assert len(said(bot, root)) == 3


async def test_a_mute_survives_a_restart(server: SlackServer, ana: Person, general: str, tmp_path: Path) -> None:
    async with slack_bot(server, tmp_path) as bot:
        root = await say(bot, ana, general, SUM)
    async with slack_bot(server, tmp_path) as bot:
        [answer] = server.said_by_bot(general, root.ts)
        ana.reacts(answer, "zipper_mouth_face")
        await bot.settled()
    async with slack_bot(server, tmp_path) as bot:
        await says(bot, ana, root, MORE)
        assert len(said(bot, root)) == 1


async def test_not_you_mutes_without_a_word(bot: SlackBot, server: SlackServer, ana: Person, general: str) -> None:
    root = await say(bot, ana, general, SUM)
    await says(bot, ana, root, "not you", MORE)
    assert len(said(bot, root)) == 1
    assert server.ephemerals(ana) == []


async def test_a_teacher_chooses_the_mode_of_a_channel(server: SlackServer, general: str, tmp_path: Path) -> None:
    teacher, ana = server.person("teacher"), server.person("ana")
    async with slack_bot(server, tmp_path, teachers=(teacher.id,)) as bot:
        ana.says(general, "mode always")
        await bot.settled()
        assert "for teachers" in server.ephemerals(ana)[-1].text
        teacher.says(general, "mode")
        await bot.settled()
        await teacher.clicks(server.ephemerals(teacher)[-1], f"{blocks.CHOICE}2").answered()
        root = ana.says(general, SUM, mention=False)
        other = ana.says(general, f"<@{teacher.id}> {SUM}", mention=False)
        await bot.settled()
        assert said(bot, root) == ["6 * 7 = 42"]
        assert said(bot, other) == []
        teacher.says(general, "mode mention")
        await bot.settled()
        await says(bot, ana, root, MORE)
        assert len(said(bot, root)) == 1


async def test_how_to_teach_a_part_that_it_does_not_know_it_says_once_in_a_thread(
    bot: SlackBot, server: SlackServer, ana: Person, general: str
) -> None:
    root = await say(bot, ana, general, "what is 6*7 and who has the key of the cellar?")
    await say(bot, ana, general, "what is 6*8 and where did we park our blue car?", under=root)
    neither = await say(bot, ana, general, "what is 5/0 and what is 6/0?", under=root)
    first, then = (each.text.split("\n\n") for each in server.said_by_bot(general, root.ts))
    assert first[0] == "6 * 7 = 42"
    assert first[1].startswith("I don't know: “who has the key of the cellar?”. Whoever knows it, tell me")
    assert then == ["6 * 8 = 48", "I don't know: “where did we park our blue car?”."]
    assert neither.reactions == {"shrug": [server.workspace.bot.id]}


async def test_of_several_that_it_does_not_know_it_says_that_it_asks_which_one_a_correction_is_about(
    bot: SlackBot, server: SlackServer, ana: Person, general: str
) -> None:
    root = await say(bot, ana, general, "what is 6*7, who has the cellar key and where did we park our blue car?")
    [answer] = server.said_by_bot(general, root.ts)
    unknown = "I don't know: “who has the cellar key”, “where did we park our blue car?”."
    assert answer.text.split("\n\n")[1].startswith(f"{unknown} Whoever knows one of them, tell me: ")


async def test_what_it_does_not_know_it_says_once_in_a_thread_and_learns_all_the_same(
    bot: SlackBot, server: SlackServer, ana: Person, ben: Person, general: str
) -> None:
    root = await say(bot, ana, general, "who has the key of the cellar?")
    car = await say(bot, ben, general, "where did we park our blue car?", under=root)
    [short] = server.said_by_bot(general, root.ts)
    assert short.text.startswith("I don't know that. Whoever knows it, tell me: `@goodbot correct: ...`")
    assert car.reactions == {"shrug": [server.workspace.bot.id]}
    await say(bot, ben, general, "correct: On level two.", under=root)
    assert server.ephemerals(ben)[-1].text.startswith("Saved as")
    again = await say(bot, ben, general, "where did we park our blue car?")
    assert said(bot, again) == ["On level two."]


async def test_why_a_deed_is_not_done_is_said_in_full_and_in_the_tools_own_words(
    bot: SlackBot, server: SlackServer, ana: Person, general: str
) -> None:
    cancels = "cancel the reminder about the report"
    none = await say(bot, ana, ana.dm, cancels)
    assert said(bot, none)[-1] == "You have no reminders here."
    for hour in (9, 10):
        await say(bot, ana, general, f"remind me tomorrow at {hour} to write the report of {hour}")
    several = await say(bot, ana, general, cancels)
    [which] = said(bot, several)
    assert which.startswith("Which one is meant? “write the report of 9”")
    assert "“write the report of 10”" in which
    assert which.endswith("`.")
    other = await say(bot, ana, general, "cancel the reminder about lunch")
    assert said(bot, other)[0].startswith("None of your reminders here has these words: “write the report of 9”, on ")
    without_time = await say(bot, ana, general, "remind me to drink")
    assert said(bot, without_time) == ["When? Say it with a time, for example: remind me tomorrow at 9 to drink"]
    for_nobody = await say(bot, ana, general, "remind me that the rent is due")
    assert said(bot, for_nobody) == ["I don't know that."]


@pytest.mark.parametrize("correction", ["correct: a dozen", "No, it's 99 in our units"])
async def test_who_is_too_fast_reads_so_once_alone_and_what_corrects_counts(
    bot: SlackBot, server: SlackServer, ana: Person, general: str, correction: str
) -> None:
    for number in range(25):
        ana.says(general, f"what is {number}*2?")
    await bot.settled()
    [notice] = server.ephemerals(ana)
    assert "I answer you here again in 1 minute" in notice.text
    count = len(server.said_by_bot(general))
    assert bot.votes(bot.session.workspace) == []
    ana.says(general, correction)
    ana.says(general, "No thanks, it's fine")
    await bot.settled()
    assert sorted(value for _, value in bot.votes(bot.session.workspace)) == [-1, 1]
    assert server.ephemerals(ana) == [notice]
    assert len(server.said_by_bot(general)) == count


async def test_a_correction_of_who_is_too_fast_counts_without_the_question_which_part_it_is_about(
    bot: SlackBot, server: SlackServer, ana: Person, general: str
) -> None:
    root = await say(bot, ana, general, "what is 6*7, who has the cellar key and where did we park our blue car?")
    for _ in range(25):
        ana.says(general, "memory")
    await bot.settled()
    count = len(server.ephemerals(ana))
    await say(bot, ana, general, "correct: Ben", under=root)
    assert sorted(value for _, value in bot.votes(bot.session.workspace)) == [-1, 1]
    assert len(server.ephemerals(ana)) == count


async def test_a_program_that_answers_everything_does_not_make_it_loop(
    bot: SlackBot, server: SlackServer, general: str
) -> None:
    """An account that looks like a person's and says something after each message of the bot's, corrections too."""
    program, answered = server.person("program"), 0
    root = await say(bot, program, general, SUM)
    for _ in range(60):
        seen = len(server.said_by_bot(general, root.ts))
        if seen == answered:
            break
        answered = seen
        await say(bot, program, general, "what is 1+1?", under=root)
    assert answered <= 21
