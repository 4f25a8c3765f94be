"""What people do with lessons by command: page through them, archive, restore, review, promote."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot.adapters.command_words import ParsedCommand, after_mention, command_in
from bot.conversation.reply import PAGE_SIZE
from bot.model import BotMessage, Choice
from memory.model import Audience, Episode, Role, Scope, TeachingPolicy, Verdict, Visibility
from memory.ports import EpisodeFilter
from tests.doubles.conversation import ANA, BOB, TEA, Chat, direct
from tests.doubles.memory_world import World, scope
from tests.doubles.model import ByGoal, answer, expand, fail

TEACHER = Role.TEACHER
PRIVATE = scope("ana", channel="p1", visibility=Visibility.PRIVATE)


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    chat = Chat()
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    for post in chat.messenger.posts:
        for choice in post.choices:
            assert_may_be_pressed_and_typed(choice)
        assert len(post.choices) <= 25
    assert chat.world.memory.audit.check() == []


def assert_may_be_pressed_and_typed(choice: Choice) -> None:
    """It fits a button, and says the same when it is typed after a mention."""
    assert len(choice.command) + len(choice.argument) + 1 <= 80
    typed = after_mention("bot", f"{choice.command} {choice.argument}".strip()).removeprefix("@bot ")
    assert command_in(typed) == ParsedCommand(choice.command, choice.argument)


def teach(chat: Chat, question: str, by: Scope = ANA, *, role: Role = Role.MEMBER, answer: str = "") -> Episode:
    chat.world.clock.tick()
    lesson = chat.world.memory.teaching.teach(
        by, question, answer or f"about {question}", role=role, audience=Audience.PERSONAL, at=chat.world.clock()
    )
    assert lesson is not None
    return lesson


def last(chat: Chat) -> BotMessage:
    """The last message, but for what authors hear of decisions."""
    return [each for each in chat.messenger.posts if not each.is_direct][-1]


async def press(chat: Chat, label: str, by: Scope = ANA, role: Role = Role.MEMBER) -> str:
    (choice,) = [choice for choice in last(chat).choices if choice.label == label]
    return await chat.command(choice.command, choice.argument, by, role=role)


def labels(chat: Chat) -> list[str]:
    return [choice.label for choice in last(chat).choices]


# memory -----------------------------------------------------------------------------------------------------------


async def test_memory_shows_a_few_lessons_a_page_with_all_that_matters_of_each(chat: Chat) -> None:
    for number in range(2 * PAGE_SIZE + 1):
        teach(chat, f"question {number}?")
    told = await chat.command("memory")
    assert "(page 1 of 3)" in told
    assert re.search(
        r"^1\. 👍 repeat “question 10\?” - about question 10\? - taught by you, for you \(`\w{8}`\)", told, re.M
    )
    assert labels(chat) == [*(f"Archive {number}" for number in range(1, PAGE_SIZE + 1)), "Next page"]
    second = await press(chat, "Next page")
    assert "\n6. " in second
    assert labels(chat)[-2:] == ["Previous page", "Next page"]
    assert "(page 3 of 3)" in await chat.command("memory", "page 99")
    assert labels(chat) == ["Archive 11", "Previous page"]
    assert await chat.command("memory", "nonsense") == told


async def test_a_lesson_is_archived_by_a_press_and_restored_by_the_next(chat: Chat) -> None:
    teach(chat, "first?")
    lesson = teach(chat, "second?")
    await chat.command("memory")
    told = await press(chat, "Archive 1")
    assert told.startswith("Archived: I will not use it any more: “second?”.")
    assert "1. 👍 repeat “first?”" in told
    assert labels(chat) == ["Restore it", "Archive 1"]
    assert chat.world.recalled("second?") == []
    told = await press(chat, "Restore it")
    assert told.startswith("Restored: “second?”; it counts for ")
    assert labels(chat)[0] == "Archive it again"
    assert chat.world.recalled("second?") == [lesson.id]


async def test_archiving_an_answer_takes_its_mark_away_and_restoring_brings_it_back(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    await chat.react(posted, "👍")
    await chat.command("memory")
    await press(chat, "Archive 1")
    assert chat.mark == {posted: False}
    await press(chat, "Restore it")
    assert chat.mark == {posted: True}


async def test_what_others_taught_is_archived_by_teachers_only(chat: Chat) -> None:
    lesson = teach(chat, "lunch?", TEA, role=TEACHER)
    assert "taught by tea, for #c1" in await chat.command("memory", by=ANA)
    assert labels(chat) == []
    assert "Only whoever taught that, or a teacher" in await chat.command("archive", lesson.id[-8:], ANA)
    assert chat.world.episode(lesson).archived_at is None
    await chat.command("archive", lesson.id[-8:], scope("tom"), role=TEACHER)
    assert chat.world.episode(lesson).archived_at is not None
    assert "Only whoever" in await chat.command("restore", lesson.id, ANA)


@pytest.mark.parametrize("role", [Role.MEMBER, TEACHER, Role.ADMIN])
@pytest.mark.parametrize("name", ["archive", "restore", "promote"])
async def test_a_lesson_of_another_place_does_not_exist(chat: Chat, name: str, role: Role) -> None:
    elsewhere = [
        teach(chat, "secret?", direct("ana"), role=TEACHER),
        teach(chat, "secret?", PRIVATE, role=TEACHER),
        teach(chat, "secret?", replace(ANA, workspace="slack:w"), role=TEACHER),
    ]
    before = [chat.world.episode(each) for each in elsewhere]
    readers = [(elsewhere[0], scope("bob")), (elsewhere[0], direct("bob")), (elsewhere[2], ANA), (elsewhere[2], BOB)]
    readers += [(elsewhere[1], scope("ana")), (elsewhere[1], direct("bob")), (elsewhere[1], BOB)]
    for lesson, reader in readers:
        told = await chat.command(name, lesson.id[-8:], reader, role=role)
        assert told in (
            "I have no such lesson here.",
            "That is for teachers. Ask one of yours; 👍, 👎 and corrections are for everybody.",
        )
    assert [chat.world.episode(each) for each in elsewhere] == before


@pytest.mark.parametrize("argument", ["", "everything", "0a1b", "0a1b2c3d page", "%", "../../etc", "0A1B2C3D' or 1=1"])
async def test_an_id_that_is_none_is_asked_for(chat: Chat, argument: str) -> None:
    for name in ("archive", "restore", "promote"):
        assert "Which lesson?" in await chat.command(name, argument, TEA, role=TEACHER)
    assert "Which rating?" in await chat.command("unrate", argument)


# review -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["review", "promote", "purge"])
@pytest.mark.parametrize("role", [Role.MEMBER, Role.GUEST])
async def test_what_is_for_teachers_is_refused_kindly_to_others(chat: Chat, name: str, role: Role) -> None:
    lesson = teach(chat, "lunch?")
    for argument in ("", lesson.id[-8:], f"{lesson.id[-8:]} workspace", "ana", "ana yes"):
        assert (await chat.command(name, argument, role=role)).startswith("That is for teachers.")
    assert chat.world.episode(lesson).verdicts.channel is Verdict.PENDING
    assert f"`!{name}`" not in await chat.command("help", role=role)
    assert f"`!{name}`" in await chat.command("help", role=TEACHER)


async def test_review_lists_what_could_count_for_more_people_newest_first(chat: Chat) -> None:
    assert "Nothing waits" in await chat.command("review", by=TEA, role=TEACHER)
    teach(chat, "mine?")
    teach(chat, "channel's?", scope("tom"), role=TEACHER)
    asked = await chat.ask("liked?", BOB)
    await chat.react(asked, "👍", BOB)
    await chat.ask("undecided?", BOB)
    await chat.correct("at noon", scope("gus"), message_id=asked, role=Role.GUEST)
    told = await chat.command("review", by=TEA, role=TEACHER)
    assert told.startswith("4 lessons wait for a teacher:")
    assert re.findall(r"^\d\. .*?“(.*?)”", told, re.MULTILINE) == [
        "liked?",
        "liked?",
        "channel's?",
        "mine?",
    ]
    assert "not approved yet: “liked?” - at noon - by gus in #c1, now for nobody" in told
    assert "by tom in #c1, now for the channel" in told
    assert labels(chat)[:3] == ["Promote 1 to channel", "Promote 1 to workspace", "Archive 1"]
    assert "Promote 3 to channel" not in labels(chat)


async def test_archived_lessons_are_listed_for_who_may_restore_them(chat: Chat) -> None:
    lessons = [teach(chat, f"number {number}?") for number in range(PAGE_SIZE + 1)]
    secret, theirs = teach(chat, "secret?", PRIVATE), teach(chat, "dm?", direct("ana"))
    kept = teach(chat, "kept?")
    for each in (*lessons, secret, theirs):
        chat.world.memory.curation.archive(each.workspace, each.id, actor="ana")
    told = await chat.command("memory", "archived")
    assert "What I no longer use, and you may restore (page 1 of 2):" in told
    assert f"1. “number {PAGE_SIZE}?” - about number {PAGE_SIZE}? - taught by you, archived 2026-11-21" in told
    assert not any(each in told for each in ("secret?", "dm?", "kept?"))
    assert labels(chat) == [*(f"Restore {number}" for number in range(1, PAGE_SIZE + 1)), "Next page"]
    await press(chat, "Next page")
    told = await press(chat, f"Restore {PAGE_SIZE + 1}")
    assert told.startswith("Restored: “number 0?”; it counts for its author alone")
    assert "page 1" not in told
    assert "2. " in told
    assert await chat.command("memory", "archived", BOB) == "Nothing of yours is archived here."
    assert "taught by ana" in await chat.command("memory", "archived", TEA, role=TEACHER)
    assert "“secret?”" in await chat.command("memory", "archived", replace(PRIVATE, person="tea"), role=TEACHER)
    assert "dm?" not in await chat.command("memory", "archived page 2", TEA, role=TEACHER)
    assert chat.world.episode(kept).archived_at is None


async def test_a_teacher_s_own_lessons_wait_for_that_teacher_only_if_they_do_not_count_yet(chat: Chat) -> None:
    lesson = teach(chat, "channel's?", TEA, role=TEACHER)
    assert "Nothing waits" in await chat.command("review", by=TEA, role=TEACHER)
    assert "1 lesson waits" in await chat.command("review", by=scope("tom"), role=TEACHER)
    assert "everybody in the workspace" in await chat.command("promote", lesson.id[-8:], TEA, role=TEACHER)
    teach(chat, "mine alone?", TEA)
    held = teach(chat, "password? AKIAIOSFODNN7EXAMPLE", TEA, role=TEACHER)
    assert held.quarantine
    assert "2 lessons wait" in await chat.command("review", by=TEA, role=TEACHER)


async def test_promoting_from_the_list_widens_and_can_be_taken_back(chat: Chat) -> None:
    teach(chat, "first?")
    lesson = teach(chat, "second?")
    await chat.command("review", by=TEA, role=TEACHER)
    told = await press(chat, "Promote 1 to workspace", TEA, TEACHER)
    assert "“second?” counts for everybody in the workspace now." in told
    assert "1. 👍 repeat “first?”" in told
    assert "second?”" not in told.partition("\n\n")[2], "it waits no more"
    assert chat.world.recalled("second?", scope("zoe", channel="c9")) == [lesson.id]
    told = await press(chat, "Take it back", TEA, TEACHER)
    assert "counts for its author alone now" in told
    assert chat.world.recalled("second?", BOB) == []
    assert "everybody in #c1" in await chat.command("promote", lesson.id[-8:], TEA, role=TEACHER)
    assert "everybody in the workspace" in await chat.command("promote", lesson.id[-8:], TEA, role=TEACHER)


async def test_taking_a_promotion_back_leaves_that_of_another_teacher(chat: Chat) -> None:
    lesson = teach(chat, "first?")
    await chat.command("promote", f"{lesson.id[-8:]} channel", BOB, role=TEACHER)
    await chat.command("promote", f"{lesson.id[-8:]} workspace", TEA, role=TEACHER)
    assert "counts for everybody in #c1 now" in await press(chat, "Take it back", TEA, TEACHER)
    assert chat.world.episode(lesson).promoted is Audience.CHANNEL
    told = await chat.command("why", lesson.id[-8:], TEA, role=TEACHER)
    assert "- promotion taken back by tea at 2026-11-21 09:00 role teacher" in told
    await chat.command("promote", f"{lesson.id[-8:]} workspace", TEA, role=TEACHER)
    await chat.command("unrate", lesson.id[-8:], TEA, role=TEACHER)
    assert chat.world.episode(lesson).promoted is Audience.CHANNEL


async def test_a_guests_correction_counts_when_a_teacher_promotes_it_and_not_after_they_take_it_back(
    chat: Chat,
) -> None:
    asked = await chat.ask("lunch?")
    await chat.correct("at noon", scope("gus"), message_id=asked, role=Role.GUEST)
    await chat.command("review", by=TEA, role=TEACHER)
    await press(chat, "Promote 1 to channel", TEA, TEACHER)
    assert len(chat.world.recalled("lunch?", BOB)) == 1
    await press(chat, "Take it back", TEA, TEACHER)
    assert chat.world.recalled("lunch?", BOB) == []


async def test_a_promotion_too_many_says_that_it_did_nothing() -> None:
    chat = Chat(World(policy=TeachingPolicy(promotions_per_window=1)))
    first, second = (teach(chat, name) for name in ("first?", "second?"))
    told = await chat.command("promote", first.id[-8:], TEA, role=TEACHER)
    assert told.endswith("counts for everybody in #c1 now.")
    told = await chat.command("promote", second.id[-8:], TEA, role=TEACHER)
    assert "counts for its author alone now. " in told
    assert told.endswith("try it again later.")
    assert chat.world.episode(second).promoted is None


@pytest.mark.parametrize(
    ("asker", "role", "told"),
    [
        (ANA, Role.MEMBER, "Saved as your lesson; for others here it is a proposal until somebody else approves it."),
        (ANA, Role.GUEST, "Thank you. What a guest teaches counts when a teacher approves it."),
        (direct("ana"), Role.MEMBER, "Saved as your lesson; it was said in private, so nobody else gets it."),
        (direct("ana"), Role.GUEST, "Thank you, but I take no lessons from guests."),
    ],
)
async def test_an_approval_is_promised_only_where_there_can_be_one(asker: Scope, role: Role, told: str) -> None:
    chat = Chat()
    await chat.ask("lunch?", asker)
    said = await chat.correct("at noon", asker, role=role)
    assert told in said
    assert ("approves" in said) == ("Nothing waits" not in await chat.command("review", by=TEA, role=TEACHER))


async def test_rejecting_from_the_list_archives_and_stays_in_the_list(chat: Chat) -> None:
    for name in ("first?", "second?"):
        teach(chat, name)
    await chat.command("review", by=TEA, role=TEACHER)
    told = await press(chat, "Archive 1", TEA, TEACHER)
    assert "1 lesson waits" in told
    assert "2 lessons wait" in await press(chat, "Restore it", TEA, TEACHER)


async def test_not_now_turns_to_what_is_older(chat: Chat) -> None:
    for number in range(PAGE_SIZE + 1):
        teach(chat, f"question {number}?")
    await chat.command("review", by=TEA, role=TEACHER)
    assert "“question 0?”" in await press(chat, "Not now", TEA, TEACHER)
    assert "Not now" not in labels(chat)


async def test_private_words_are_reviewed_by_nobody_outside(chat: Chat) -> None:
    """Not from another channel, not from the teacher's own direct conversation, not by the administrator."""
    teach(chat, "zyzzyva?", direct("ana"))
    hidden = teach(chat, "zyzzyva!", PRIVATE)
    teach(chat, "quokka?", replace(ANA, workspace="slack:w"))
    for reader in (TEA, direct("tea"), replace(PRIVATE, person="tea", channel="p2")):
        for role in (TEACHER, Role.ADMIN):
            assert "Nothing waits" in await chat.command("review", by=reader, role=role)
    inside = replace(PRIVATE, person="tea")
    assert "zyzzyva!" in await chat.command("review", by=inside, role=TEACHER)
    assert labels(chat) == ["Promote 1 to channel", "Archive 1"]
    refused = await chat.command("promote", f"{hidden.id[-8:]} workspace", inside, role=TEACHER)
    assert "stays there" in refused
    assert chat.world.episode(hidden).verdicts.workspace is Verdict.PENDING


async def test_a_correction_is_one_lesson_in_the_lists_and_what_it_corrects_is_there_without_it() -> None:
    chat = Chat()
    chat.oracle.answers["lunch?"] = "at nine"
    await chat.ask("lunch?")
    await chat.correct("at noon")
    for said in (await chat.command("memory"), await chat.command("review", by=TEA, role=TEACHER)):
        assert "👍 repeat “lunch?” - at noon" in said
        assert "at nine" not in said
    (shared,) = [each for each in chat.messenger.posts[-1].choices if each.label == "Promote 1 to channel"]
    await chat.command(shared.command, shared.argument, by=TEA, role=TEACHER)
    assert "at nine" not in await chat.command("review", by=TEA, role=TEACHER)
    (lesson,) = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(text="at noon"))
    await chat.command("archive", lesson.id[-8:])
    for said in (await chat.command("memory"), await chat.command("review", by=TEA, role=TEACHER)):
        assert "👎 avoid “lunch?” - at nine" in said


async def test_no_teacher_decides_about_an_answer_that_is_none() -> None:
    chat = Chat()
    chat.oracle.answers["lunch?"] = fail("I don't know.")
    await chat.react(await chat.ask("lunch?"), "👎")
    assert "👎 avoid “lunch?” - no answer - taught by you" in await chat.command("memory")
    assert "Nothing waits" in await chat.command("review", by=TEA, role=TEACHER)


async def test_a_thumb_up_on_an_answer_that_is_none_is_no_lesson_to_repeat() -> None:
    chat = Chat()
    chat.oracle.answers["lunch?"] = fail("I don't know.")
    posted = await chat.ask("lunch?")
    await chat.react(posted, "👍")
    assert posted not in chat.mark
    assert "lunch" not in await chat.command("memory")
    assert "lunch" not in await chat.command("review", by=TEA, role=TEACHER)
    assert "lunch" in await chat.command("ratings")


async def test_a_thumb_up_on_an_answer_that_knows_no_part_is_no_lesson_either() -> None:
    parts, goal = ("where is the ladder?", "when does it open?"), "where is the ladder and when does it open?"
    unknown = fail("I don't know: “where is the ladder?”, “when does it open?”.")
    script = {goal: [expand("parallel", *parts), unknown, answer("I have no idea.")]}
    chat = Chat(model=ByGoal({**script, **{part: [fail("I don't know.")] * 2 for part in parts}}))
    posted = await chat.ask(goal)
    await chat.react(posted, "👍")
    assert posted not in chat.mark
    assert "ladder" not in await chat.command("memory")
    assert "ladder" not in await chat.command("review", by=TEA, role=TEACHER)
    assert "ladder" in await chat.command("ratings")
    await chat.ask(goal)
    assert chat.messenger.posts[-1].lessons == ()
