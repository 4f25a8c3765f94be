"""What people take back by command: one rating, everything somebody taught, everything of their own."""

from collections.abc import AsyncIterator

import pytest

from bot.model import Choice
from memory.model import Audience, Role, Scope, Verdict
from memory.ports import EpisodeFilter
from tests.doubles.conversation import ANA, BOB, TEA, Chat, direct
from tests.doubles.memory_world import scope
from tests.doubles.stores import content

TEACHER = Role.TEACHER
MAL = scope("U7MAL")


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    chat = Chat()
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    assert chat.world.memory.audit.check() == []


def choices(chat: Chat) -> tuple[Choice, ...]:
    return chat.messenger.posts[-1].choices


async def press(chat: Chat, label: str, by: Scope = ANA, role: Role = Role.MEMBER) -> str:
    (choice,) = [choice for choice in choices(chat) if choice.label == label]
    return await chat.command(choice.command, choice.argument, by, role=role)


async def test_ratings_are_ones_own_newest_first_and_taken_back_one_by_one(chat: Chat) -> None:
    assert "not rated any" in await chat.command("ratings")
    lunch, dinner = await chat.ask("lunch?"), await chat.ask("dinner?")
    await chat.react(lunch, "👍")
    await chat.react(dinner, "👎")
    await chat.react(lunch, "👎", BOB)
    told = await chat.command("ratings")
    assert "1. 👎 “dinner?” - the answer to dinner?" in told
    assert "2. 👍 “lunch?”" in told
    told = await press(chat, "Take back 2")
    assert told.startswith("Taken back: your 👍 on “lunch?”")
    assert "2. " not in told
    assert chat.mark == {lunch: False, dinner: True}
    assert "👎 “lunch?”" in await chat.command("ratings", by=BOB)


async def test_taking_a_rating_back_leaves_none_however_often_they_changed_their_mind(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    for emoji in ("👍", "👎", "✅"):
        await chat.react(posted, emoji)
    await chat.command("ratings")
    await press(chat, "Take back 1")
    assert "not rated any" in await chat.command("ratings")
    assert chat.mark[posted] is False


async def test_nobody_takes_back_anothers_rating(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    await chat.react(posted, "👍")
    await chat.command("ratings")
    (choice,) = choices(chat)
    for name in ("unrate", "undo"):
        assert "no such rating of yours" in await chat.command(name, choice.argument, BOB, role=TEACHER)
    elsewhere = scope("ana", workspace="slack:w")
    assert "no such rating of yours" in await chat.command("unrate", choice.argument, elsewhere)
    assert chat.mark == {posted: True}
    assert "Taken back" in await chat.command("undo", choice.argument)
    assert chat.mark == {posted: False}


async def test_ratings_repeat_no_private_words_in_public(chat: Chat) -> None:
    posted = await chat.ask("zyzzyva?", direct("ana"))
    await chat.react(posted, "👍", direct("ana"))
    told = await chat.command("ratings")
    assert "👍 an answer in another conversation" in told
    assert "zyzzyva" not in await press(chat, "Take back 1")
    await chat.react(posted, "✅", direct("ana"))
    assert "zyzzyva?" in await chat.command("ratings", by=direct("ana"))


# purge ------------------------------------------------------------------------------------------------------------


async def poison(chat: Chat) -> str:
    """A bad teacher, and an answer that believed them."""
    chat.world.clock.tick()
    chat.world.memory.teaching.teach(
        MAL, "where is the ladder?", "in the deep river", role=TEACHER, audience=Audience.CHANNEL, at=chat.world.clock()
    )
    liked = await chat.ask("lunch?")
    await chat.react(liked, "👍", MAL, role=TEACHER)
    chat.oracle.answers["where is the ladder?"] = "in the deep river"
    believed = await chat.ask("where is the ladder?", BOB)
    await chat.react(believed, "👍", BOB)
    return believed


@pytest.mark.parametrize("spelling", ["U7MAL", "@U7MAL", "<@U7MAL>", "<@!U7MAL>", "<@U7MAL|mal>", "  U7MAL "])
async def test_purge_says_first_what_it_would_do_and_then_does_it(chat: Chat, spelling: str) -> None:
    believed = await poison(chat)
    asked = await chat.command("purge", spelling, TEA, role=TEACHER)
    assert "1 vote, 1 lesson; and 2 other lessons that rested on it" in asked
    assert "`!purge @U7MAL yes`" in asked
    assert chat.messenger.posts[-1].people == ("U7MAL",), "named, not by id"
    assert [(choice.argument, choice.is_danger) for choice in choices(chat)] == [("U7MAL yes", True)]
    assert chat.mark[believed] is True
    told = await press(chat, "Take all of it back", TEA, TEACHER)
    assert told.startswith("Taken back from U7MAL: 1 vote, 1 lesson")
    assert chat.mark == {"post-1": False, believed: False}
    assert chat.world.recalled("where is the ladder?", BOB) == []
    assert "I find nothing taught by U7MAL" in await chat.command("purge", f"{spelling} yes", TEA, role=TEACHER)


async def test_purge_of_nobody_and_of_an_administrator(chat: Chat) -> None:
    assert "Whose lessons?" in await chat.command("purge", "", TEA, role=TEACHER)
    assert "Whose lessons?" in await chat.command("purge", " @ ", TEA, role=TEACHER)
    posted = await chat.ask("lunch?")
    await chat.react(posted, "👍", scope("adm"), role=Role.ADMIN)
    for argument in ("adm", "adm yes"):
        assert "by administrators only" in await chat.command("purge", argument, TEA, role=TEACHER)
    assert "Taken back" in await chat.command("purge", "adm yes", TEA, role=Role.ADMIN)


# forget -----------------------------------------------------------------------------------------------------------


async def test_forget_offers_one_dangerous_choice_and_tells_what_it_erased(chat: Chat) -> None:
    await chat.react(await chat.ask("zyzzyva?"), "👍")
    await chat.command("forget", "me")
    assert [(choice.argument, choice.is_danger) for choice in choices(chat)] == [("yes", True)]
    told = await press(chat, "Erase all of it")
    assert told == "Erased: 1 message, 1 remembered answer, 1 vote."
    assert b"zyzzyva" not in content(chat.store)


@pytest.mark.parametrize("argument", ["bob", "<@U7BOB>", "bob yes"])
async def test_forget_with_a_name_does_not_offer_to_erase_whoever_types_it(chat: Chat, argument: str) -> None:
    await chat.ask("lunch?")
    assert "only your own data: `!forget me`" in await chat.command("forget", argument, TEA, role=Role.ADMIN)
    assert choices(chat) == ()


async def test_undoing_a_promotion_gives_back_the_audience_of_before(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    await chat.react(posted, "👍")
    (lesson,) = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(limit=None))
    before = chat.world.episode(lesson)
    await chat.command("promote", f"{lesson.id[-8:]} channel", BOB, role=TEACHER)
    of_bob = chat.world.episode(lesson)
    await chat.command("promote", f"{lesson.id[-8:]} workspace", TEA, role=TEACHER)
    assert chat.world.episode(lesson).verdicts.workspace is Verdict.SUCCESS
    told = await chat.command("undo", by=TEA, role=TEACHER)
    assert told == "Taken back: your approval of “lunch?”: it counts for everybody in #c1."
    after = chat.world.episode(lesson)
    assert (after.verdicts, after.promoted) == (of_bob.verdicts, of_bob.promoted)
    assert "it counts for its author alone" in await chat.command("undo", by=BOB, role=TEACHER)
    after = chat.world.episode(lesson)
    assert (after.verdicts, after.promoted, after.strength) == (before.verdicts, None, before.strength)


async def test_undo_offers_the_one_before(chat: Chat) -> None:
    for question in ("lunch?", "dinner?"):
        await chat.react(await chat.ask(question), "👍")
    assert "dinner?" in await chat.command("undo")
    assert "lunch?" in await press(chat, "Take back one more")
    stats = chat.world.memory.audit.statistics(ANA.workspace)[0]
    assert stats[f"verdict.{Verdict.PENDING.value}"] == 2


async def test_the_mark_goes_from_other_answers_too_when_a_voter_there_is_trusted_no_more(chat: Chat) -> None:
    lunch, dinner = await chat.ask("lunch?"), await chat.ask("dinner?")
    for posted in (lunch, dinner):
        await chat.react(posted, "👍", BOB)
    await chat.react(lunch, "👍", MAL)
    assert chat.mark == {lunch: True}
    await chat.react(dinner, "👎", TEA, role=Role.ADMIN)
    assert chat.mark == {lunch: False, dinner: True}


@pytest.mark.parametrize(
    ("emoji", "shown"),
    [("👍🏽", "👍🏽"), ("+1::skin-tone-3", ":+1::skin-tone-3:"), ("white_check_mark", ":white_check_mark:")],
)
async def test_undo_shows_a_reaction_as_an_emoji(emoji: str, shown: str) -> None:
    chat = Chat()
    await chat.react(await chat.ask("lunch?"), emoji)
    assert await chat.command("undo") == f"Taken back: your {shown} on the answer to “lunch?”."
