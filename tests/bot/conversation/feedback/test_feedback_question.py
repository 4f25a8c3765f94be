"""A correction of an answer of which several parts are open: the person is asked which part it is about."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot.conversation.answers.sharing import Sharing
from bot.conversation.executor import Executor
from bot.model import PersonDeletion, PersonEdit, PersonEvent
from memory.model import Origin, Role, Scope, Visibility
from memory.ports import EpisodeFilter
from tests.doubles.conversation import ANA, BOB, TEA, Chat, RecordingMessenger
from tests.doubles.discord import DiscordServer
from tests.doubles.discord_driver import connected
from tests.doubles.model import call, expand

KEY, CARD, LUNCH = "where is the spare key", "where is the fuel card?", "what is for lunch"
ALL = f"{LUNCH}, {KEY} and {CARD}"
WHICH = "Which part of the question is “In the cellar.” the answer to?"
LABELS = [LUNCH, KEY, CARD, "All of it"]


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    chat = Chat()
    chat.oracle.answers[ALL] = expand("parallel", LUNCH, KEY, CARD)
    chat.oracle.unknown |= {KEY, CARD}
    await chat.ask(ALL)
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    assert chat.world.memory.audit.check() == []


def taught(chat: Chat) -> list[tuple[str, str]]:
    """The questions and texts of the corrections."""
    found = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(limit=None))
    return [(each.goal, each.output) for each in found if each.origin is Origin.CORRECTION]


def labels(chat: Chat) -> list[str]:
    return [each.label for each in chat.messenger.posts[-1].choices]


async def press(chat: Chat, label: str, by: Scope = ANA, role: Role = Role.MEMBER) -> str:
    choice = next(each for post in reversed(chat.messenger.posts) for each in post.choices if each.label == label)
    assert len(f"{choice.command}{choice.argument}") <= 80
    return await chat.command(choice.command, choice.argument, by, role=role)


async def test_a_correction_is_taught_for_the_part_that_is_pressed(chat: Chat) -> None:
    assert await chat.correct("In the cellar.", message_id="post-1") == WHICH
    post = chat.messenger.posts[-1]
    assert (post.private_to, post.is_answer, labels(chat)) == ("ana", False, LABELS)
    assert taught(chat) == []
    assert (await press(chat, CARD)).startswith(f"Noted: for “{CARD}” the answer is “In the cellar.”. Saved")
    assert labels(chat) == ["Undo"]
    assert await press(chat, KEY) == "I have taken that in already."
    assert taught(chat) == [(CARD, "In the cellar.")]
    await chat.correct("Under the pot.")
    await press(chat, KEY)
    assert sorted(taught(chat)) == [(CARD, "In the cellar."), (KEY, "Under the pot.")]


async def test_another_part_may_be_chosen_after_undo(chat: Chat) -> None:
    await chat.correct("In the cellar.")
    await press(chat, CARD)
    assert (await press(chat, "Undo")).startswith("Forgotten: your correction")
    assert labels(chat) == ["Take back one more"]
    assert (await press(chat, KEY)).startswith("Noted: ")
    assert await press(chat, CARD) == "I have taken that in already."
    lessons = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(limit=None))
    assert [each.goal for each in lessons if each.origin is Origin.CORRECTION] == [KEY]


async def test_what_is_undone_as_a_correction_of_a_part_may_be_answered_instead(chat: Chat) -> None:
    await chat.ask("No, it's in the cellar.")
    await press(chat, KEY)
    await press(chat, "Undo")
    await press(chat, "Answer it instead")
    await chat.bot.idle()
    assert chat.oracle.asked[-1] == "No, it's in the cellar."


async def test_no_after_a_part_was_pressed_takes_the_lesson_back_and_answers_the_message(chat: Chat) -> None:
    await chat.ask("No, it's in the cellar.")
    await press(chat, KEY)
    assert taught(chat) == [(KEY, "it's in the cellar")]
    await press(chat, "No")
    await chat.bot.idle()
    assert taught(chat) == []
    assert chat.oracle.asked[-1] == "No, it's in the cellar."


async def test_what_the_form_says_was_wrong_is_kept(chat: Chat) -> None:
    await chat.correct("In the cellar.", reason="wrong facts")
    await press(chat, KEY)
    found = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(limit=None))
    assert [each.goal for each in found if each.outcome_reason == "wrong facts"] == [KEY]


async def test_it_may_be_about_all_of_it_and_is_one_if_it_is_delivered_twice(chat: Chat) -> None:
    for _ in range(2):
        await chat.correct("In the cellar.", event_id="e1")
    assert chat.messenger.notices == [WHICH]
    await press(chat, "All of it")
    assert taught(chat) == [(ALL, "In the cellar.")]


async def test_only_who_corrects_is_asked_and_also_after_a_restart(chat: Chat) -> None:
    await chat.correct("In the cellar.", TEA, message_id="post-1", role=Role.TEACHER)
    assert chat.messenger.posts[-1].private_to == "tea"
    assert "or it is not yours to answer" in await press(chat, KEY)
    again = Chat(chat.world, messenger=chat.messenger)
    assert "everybody" in await press(again, KEY, TEA, Role.TEACHER)
    assert taught(chat) == [(KEY, "In the cellar.")]
    again.executor.close()


async def test_what_is_being_asked_is_not_offered_again_as_what_could_not_be_posted(chat: Chat) -> None:
    async def after_post() -> None:
        chat.messenger.after_post = None
        await chat.correct("In the cellar.", event_id="e1")
        assert await chat.bot.recovery.redeliver(chat.messenger) == 0

    chat.messenger.after_post = after_post
    await chat.correct("In the cellar.", event_id="e1")
    assert chat.messenger.notices == [WHICH]


async def test_what_could_not_be_asked_is_asked_later(chat: Chat) -> None:
    chat.messenger.fails = {"post"}
    await chat.correct("In the cellar.")
    chat.messenger.fails = set()
    assert await chat.bot.recovery.redeliver(chat.messenger) == 1
    await chat.bot.idle()
    assert await chat.bot.recovery.redeliver(chat.messenger) == 0
    assert chat.messenger.notices == [WHICH]


class EverywhereMessenger(RecordingMessenger):
    """Posts in all workspaces."""

    answers_everywhere = True


async def test_no_process_takes_what_another_is_asking(chat: Chat) -> None:
    messenger, executor = EverywhereMessenger(), Executor(threads=1)
    sharings: list[Sharing] = []
    crew = Chat(chat.world, messenger=messenger), Chat(chat.world, messenger=messenger)
    for number, each in enumerate(crew):
        conversations, platforms = each.bot.conversations, frozenset({messenger.platform})
        sharing = Sharing(each.world.memory, each.executor, conversations, process=f"{number}", platforms=platforms)
        conversations.turns, sharing.messengers = sharing, {messenger.platform: messenger}
        await sharing.poll(executor)
        sharings.append(sharing)

    async def after_post() -> None:
        messenger.after_post = None
        for _ in range(3):
            for sharing in sharings:
                await sharing.poll(executor)
        for each in crew:
            await each.bot.idle()

    messenger.after_post = after_post
    await crew[0].correct("In the cellar.")
    assert messenger.notices == [WHICH]
    for used in (executor, *(each.executor for each in crew)):
        used.close()


@pytest.mark.parametrize(("by", "right"), [(ANA, "In the attic."), (BOB, "In the cellar.")])
async def test_its_authors_edit_before_the_part_is_chosen_counts(chat: Chat, by: Scope, right: str) -> None:
    await chat.correct("In the cellar.", event_id="e1")
    edit = PersonEdit(
        event_id="e2",
        scope=by,
        message_id="m1",
        text="correct: In the attic.",
        at=chat.world.clock.tick(),
        role=Role.MEMBER,
        of_event="e1",
    )
    await chat.sink(edit)
    await press(chat, KEY)
    assert taught(chat) == [(KEY, right)]


async def test_who_deletes_it_before_the_part_is_chosen_teaches_nothing(chat: Chat) -> None:
    await chat.correct("In the cellar.", event_id="e1")
    gone = PersonDeletion(event_id="e2", scope=ANA, message_id="m1", at=chat.world.clock.tick(), of_event="e1")
    await chat.sink(gone)
    await press(chat, KEY)
    assert taught(chat) == []


async def test_the_question_is_answered_in_words_too(chat: Chat) -> None:
    await chat.ask("No, it's in the cellar.")
    assert chat.messenger.posts[-1].text.startswith("Was that a correction? Which part of the question is “it's in")
    assert labels(chat) == [*LABELS, "No"]
    await chat.ask("the second one")
    assert taught(chat) == [(KEY, "it's in the cellar")]


@pytest.mark.parametrize("typed", ["no", "5"])
async def test_what_was_no_correction_is_answered(chat: Chat, typed: str) -> None:
    await chat.ask("No, it's in the cellar.")
    await chat.ask(typed)
    assert (taught(chat), chat.oracle.asked[-1]) == ([], "No, it's in the cellar.")


async def test_of_many_parts_those_without_an_answer_have_buttons(chat: Chat) -> None:
    chat.oracle.answers["everything"] = expand("parallel", *(f"what is {number}?" for number in range(6)), KEY, CARD)
    await chat.ask("everything")
    await chat.correct("In the cellar.")
    assert labels(chat) == [*(f"what is {number}?" for number in range(4)), KEY, CARD, "All of it"]


async def test_parts_that_are_asked_about_are_open_too(chat: Chat) -> None:
    which = call("ask_person", question="Which one?", options=[{"answer": "Under the pot."}])
    chat.oracle.answers |= {
        "both": expand("parallel", "this one?", "that one?"),
        "this one?": which,
        "that one?": which,
    }
    await chat.ask("both")
    assert await chat.correct("In the cellar.") == WHICH
    await press(chat, "that one?")
    assert taught(chat) == [("that one?", "In the cellar.")]


async def test_no_part_is_named_to_who_may_not_read_the_answer(chat: Chat) -> None:
    await chat.ask(ALL, replace(BOB, visibility=Visibility.PRIVATE))
    assert "do not know that answer" in await chat.correct("In the cellar.", TEA)
    assert labels(chat) == []


async def test_a_thread_stays_that_of_who_asked_there(chat: Chat) -> None:
    ana, bob = (replace(each, thread="t1") for each in (ANA, BOB))
    await chat.ask(ALL, ana)
    await chat.correct("In the cellar.", bob, message_id="post-2")
    assert chat.world.memory.listening.state(ana).asker == "ana"


async def test_others_are_not_answered_with_it_before_it_is_approved(chat: Chat) -> None:
    here = [replace(each, thread="t1") for each in (ANA, BOB)]
    await chat.ask(ALL, here[0])
    await chat.correct("In the cellar.", here[1], message_id="post-2")
    await chat.ask("what else?", here[0])
    told = str(chat.oracle.requests[-1])
    assert (ALL in told, "In the cellar." in told) == (True, False)


async def test_what_cannot_be_a_lesson_is_refused_at_once(chat: Chat) -> None:
    assert (await chat.correct("   ")).startswith("A correction needs a text")
    assert "8000" in await chat.correct("x" * 8001)


async def test_on_discord_the_parts_are_buttons_that_only_who_corrects_may_press(chat: Chat) -> None:
    async with DiscordServer() as server:

        async def sink(event: PersonEvent) -> None:
            await chat.bot.sink(session.messenger)(event)

        async with connected(server, sink=sink) as session:
            session.asks(ALL)
            await server.until(lambda: server.said(session.general))
            session.asks("correct: In the cellar.")
            await server.until(lambda: len(server.said(session.general)) == 2)
            [_, question] = server.said(session.general)
            buttons = [str(each["label"]) for row in question.components for each in row["components"]]
            assert (question.content, buttons) == (WHICH, LABELS)
            other = server.clicks(server.person("ben", session.guild), question, KEY)
            await server.until(lambda: "do not know that question" in other.text)
            pressed = server.clicks(session.ana, question, KEY)
            await server.until(lambda: f"Noted: for “{KEY}” the answer is “In the cellar.”" in pressed.text)
            session.asks("correct: Under the pot.")
            await server.until(lambda: len(server.said(session.general)) == 3)
            session.asks("correct: In the bin.")
            await server.until(lambda: len(server.said(session.general)) == 4)
            session.asks("2", reply_to=server.said(session.general)[2])
            noted = f"Noted: for “{KEY}” the answer is “Under the pot.”"
            direct = server.dm(session.ana)
            await server.until(lambda: [each for each in server.said(direct) if noted in each.content])
            await chat.bot.idle()


@pytest.mark.parametrize("in_thread", [False, True])
async def test_on_discord_who_accepts_no_direct_messages_is_told_where_they_replied(
    chat: Chat, in_thread: bool
) -> None:
    async with DiscordServer() as server:

        async def sink(event: PersonEvent) -> None:
            await chat.bot.sink(session.messenger)(event)

        async with connected(server, sink=sink) as session:
            ben = server.person("ben", session.guild, accepts_dms=False)
            place = server.thread(session.general, ben) if in_thread else session.general
            session.asks(ALL, person=ben, channel=place)
            await server.until(lambda: server.said(place))
            for number, text in enumerate(("In the cellar.", "Under the pot."), start=2):
                session.asks(f"correct: {text}", person=ben, channel=place)
                await server.until(lambda number=number: len(server.said(place)) == number)  # type: ignore[misc]
            session.asks("2", person=ben, channel=place, reply_to=server.said(place)[1])
            await server.until(lambda: "answer is “In the cellar.”" in server.said(place)[-1].content)
            await chat.bot.idle()
