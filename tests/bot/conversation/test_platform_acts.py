"""What chat platforms add to a conversation: follow-ups, edits, deletions, buttons, retries, teaching, clearing."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot.conversation.messages import EDITED_TOO_LATE, NO_SUCH_ANSWER
from bot.model import (
    PersonDeletion,
    PersonEdit,
    PersonRetry,
    PersonTeaching,
    PersonVote,
    ReactionsCleared,
    TextFile,
)
from memory.model import Audience, Origin, Role, Scope, Verdict, Visibility
from memory.ports import EpisodeFilter
from memory.rules.chat_settings import ALLOWED_PEOPLE
from memory.services import Answer, FinishedRun, Recording
from tests.doubles.conversation import ANA, BOB, TEA, Chat
from tests.doubles.memory_world import scope
from tests.doubles.model import call


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    chat = Chat()
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    assert chat.world.memory.audit.check() == []


IN_THREAD = replace(ANA, thread="t1")


async def vote(chat: Chat, message_id: str, value: int, by: Scope = ANA, event_id: str = "") -> None:
    chat.world.clock.tick()
    await chat.sink(
        PersonVote(
            event_id=event_id or chat.world.ids(), scope=by, message_id=message_id, value=value, at=chat.world.clock()
        )
    )


async def teach(chat: Chat, by: Scope, *, role: Role = Role.MEMBER, audience: Audience = Audience.PERSONAL) -> str:
    chat.world.clock.tick()
    await chat.sink(
        PersonTeaching(
            event_id=chat.world.ids(),
            scope=by,
            question="where is the ladder?",
            answer="In the shed.",
            at=chat.world.clock(),
            audience=audience,
            role=role,
        )
    )
    return chat.messenger.notices[-1]


async def test_a_button_under_an_answer_that_is_forgotten_says_so_and_a_reaction_is_silent(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    await chat.command("forget", "yes")
    said = len(chat.messenger.notices)
    await chat.react(posted, "👍", BOB)
    assert len(chat.messenger.notices) == said
    await vote(chat, posted, 1, BOB)
    assert chat.messenger.notices[said:] == [NO_SUCH_ANSWER]


@pytest.mark.parametrize("is_correction", [False, True])
async def test_what_is_pressed_before_the_platform_said_that_it_posted_the_answer_waits_for_that(
    chat: Chat, is_correction: bool
) -> None:
    pressed: list[asyncio.Task[object]] = []

    async def press() -> None:
        chat.messenger.after_post = None
        early = chat.correct("at noon", message_id="post-1") if is_correction else vote(chat, "post-1", -1)
        pressed.append(asyncio.ensure_future(early))
        for _ in range(20):  # the press is being handled meanwhile
            await asyncio.sleep(0)

    chat.messenger.after_post = press
    assert await chat.ask("lunch?") == "post-1"
    await asyncio.gather(*pressed)
    assert "do not know" not in " ".join(chat.messenger.notices)
    (told,) = chat.messenger.notices
    assert ("Saved" if is_correction else "What would have been right?") in told


@pytest.mark.parametrize("is_correction", [False, True])
async def test_what_is_about_an_earlier_answer_does_not_wait_for_one_that_is_being_posted(
    chat: Chat, is_correction: bool
) -> None:
    async def teach_about_the_first() -> None:
        chat.messenger.after_post = None
        async with asyncio.timeout(1):
            await (chat.correct("at noon", IN_THREAD) if is_correction else vote(chat, "post-1", -1, IN_THREAD))

    await chat.ask("lunch?", IN_THREAD)
    chat.messenger.after_post = teach_about_the_first
    await chat.ask("dinner?", replace(BOB, thread="t1"))
    nodes = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter())
    verdicts = {each.goal: each.verdict for each in nodes if each.origin is Origin.RUN}
    assert verdicts == {"lunch?": Verdict.FAILURE, "dinner?": Verdict.PENDING}


@pytest.mark.parametrize("command", ["export", "forget"])
async def test_where_a_person_is_known_in_several_workspaces_they_are_told_that_one_is_meant(
    chat: Chat, command: str
) -> None:
    there = replace(ANA, workspace="discord:1")
    assert "Each server is kept apart" in await chat.command(command, by=there)
    await chat.ask("lunch?", there)
    assert "Each server is kept apart" in await chat.command(command, by=there)
    await chat.ask("lunch?")
    assert "kept apart" not in await chat.command(command)


async def test_attached_text_is_part_of_the_question(chat: Chat) -> None:
    await chat.sink(replace(chat.message("sum this up"), files=(TextFile(name="a.txt", text="one two"),)))
    await chat.bot.idle()
    assert chat.oracle.asked == ["sum this up\n\nAttached file a.txt:\none two"]


async def edit(chat: Chat, message_id: str, text: str, of: Scope = ANA) -> None:
    await chat.sink(
        PersonEdit(event_id=chat.world.ids(), scope=of, message_id=message_id, text=text, at=chat.world.clock())
    )


async def delete(chat: Chat, message_id: str) -> None:
    await chat.sink(PersonDeletion(event_id=chat.world.ids(), scope=ANA, message_id=message_id, at=chat.world.clock()))


async def test_an_edit_counts_while_the_question_waits(chat: Chat) -> None:
    gate = chat.oracle.gates["first"] = asyncio.Event()
    await chat.sink(chat.message("first", message_id="m1"))
    await chat.sink(chat.message("lnch?", message_id="m2"))
    for message_id, text in (("m2", "lunch?"), ("m9", "unknown"), ("m2", " ")):
        await edit(chat, message_id, text)
    gate.set()
    await chat.bot.idle()
    assert chat.messenger.answers == ["the answer to first", "the answer to lunch?"]
    assert chat.messenger.notices == []


async def test_an_edit_before_the_work_begins_is_answered_and_not_told_to_be_late() -> None:
    warm_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    chat = Chat(warm_up=warm_up)
    await chat.sink(chat.message("lnch?", message_id="m1"))
    await edit(chat, "m1", "lunch?")
    warm_up.set_result(None)
    await chat.bot.idle()
    assert (chat.oracle.asked, chat.messenger.answers) == (["lunch?"], ["the answer to lunch?"])
    assert chat.messenger.notices == []
    chat.executor.close()


async def test_an_edit_while_the_agent_works_begins_it_again(chat: Chat) -> None:
    chat.oracle.gates["lnch?"] = asyncio.Event()
    await chat.sink(chat.message("lnch?", message_id="m1"))
    assert await chat.oracle.arrived.get() == "lnch?"
    await edit(chat, "m1", "lunch?")
    await chat.bot.idle()
    assert (chat.messenger.answers, chat.messenger.notices) == (["the answer to lunch?"], [])
    [root] = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(roots_only=True, limit=None))
    assert root.goal == "lunch?"


async def test_what_an_edit_in_a_closed_channel_says_stays_there_when_it_opens(chat: Chat) -> None:
    await chat.ask("lnch?", message_id="m1")
    await edit(chat, "m1", "lunch?", replace(ANA, visibility=Visibility.PRIVATE))
    with chat.world.memory.store.read() as tx:
        message = tx.deliveries.incoming_of_message(ANA.workspace, ANA.channel, "m1")
    assert message is not None
    assert (message.text, message.scope.visibility) == ("lunch?", Visibility.PRIVATE)


async def test_an_edit_in_the_moment_of_the_commit_is_answered_too(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    finish, finished = Recording.finish, list[FinishedRun]()

    def late(self: Recording, run: FinishedRun) -> Answer | None:
        if not finished:
            chat.world.memory.changes.reword(ANA.workspace, ANA.channel, "m1", "lunch?")
        finished.append(run)
        return finish(self, run)

    monkeypatch.setattr(Recording, "finish", late)
    await chat.sink(chat.message("lnch?", message_id="m1"))
    await chat.bot.idle()
    assert (chat.messenger.answers, len(finished)) == (["the answer to lunch?"], 2)


def goals(chat: Chat, *, archived: bool = False) -> list[str]:
    """The questions, oldest first."""
    wanted = EpisodeFilter(roots_only=True, limit=None, include_archived=archived, newest_first=False)
    return [each.goal for each in chat.world.memory.audit.episodes(ANA.workspace, wanted)]


async def test_an_edit_of_a_question_that_was_not_known_is_answered_in_its_place(chat: Chat) -> None:
    chat.oracle.unknown |= {"lnch?", "lunhc?"}
    await chat.ask("lnch?", message_id="m1")
    for text in ("lnch?", " ", "lunhc?", "lunch?", "dinner?"):
        await edit(chat, "m1", text)
        await chat.bot.idle()
    assert chat.oracle.asked == ["lnch?", "lunhc?", "lunch?"]
    assert chat.messenger.answers[-1] == "the answer to lunch?"
    assert [post.reply_to for post in chat.messenger.posts] == ["m1"] * 3
    assert (goals(chat), goals(chat, archived=True)) == (["lunch?"], ["lnch?", "lunhc?", "lunch?"])
    assert [gap.episode.goal for gap in chat.world.memory.gaps.find(ANA.workspace)] == []
    await delete(chat, "m1")
    assert goals(chat) == []


async def test_so_is_an_edit_of_one_of_which_no_part_was_known(chat: Chat) -> None:
    both = "lnch and dnnr?"
    chat.oracle.unknown |= {"lnch", "dnnr?"}
    chat.oracle.answers[both] = call("expand", flow="parallel", subgoals=["lnch", "dnnr?"])
    await chat.ask(both, message_id="m1")
    await edit(chat, "m1", "lunch?")
    await chat.bot.idle()
    assert chat.messenger.answers[-1] == "the answer to lunch?"
    assert goals(chat) == ["lunch?"]


async def test_a_secret_that_is_not_stored_makes_no_edit_of_the_same_text(chat: Chat) -> None:
    text = "why is AKIAIOSFODNN7EXAMPLE refused?"
    chat.oracle.unknown.add("why is [redacted: key] refused?")
    await chat.ask(text, message_id="m1")
    await edit(chat, "m1", text)
    await chat.bot.idle()
    assert chat.oracle.asked == ["why is [redacted: key] refused?"]


async def test_what_one_person_proposed_by_a_thumb_goes_with_a_deleted_question(chat: Chat) -> None:
    def belief() -> float:
        weighed = chat.world.memory.recalling.weighing.weigh(BOB, "lunch?", ())
        return max((each.value for each in weighed.beliefs if each.text), default=0.0)

    await chat.react(await chat.ask("lunch?", message_id="m1"), "👍", scope("cy"))
    assert belief() > 0
    await delete(chat, "m1")
    assert belief() == 0
    assert chat.world.memory.audit.check() == []


async def test_in_a_channel_the_mark_goes_and_it_is_not_said_twice_that_it_is_not_known(chat: Chat) -> None:
    ana = replace(scope("ana", workspace="slack:w"), thread="t1")
    chat.messenger.platform = "slack"
    chat.oracle.unknown |= {"lnch?", "lunhc?", "keys?"}
    await chat.ask("keys?", ana)
    await chat.ask("lnch?", ana, message_id="m1")
    for text in ("lunhc?", "lunch?"):
        message = PersonEdit(event_id=text, scope=ana, message_id="m1", text=text, at=chat.world.clock())
        await chat.sink(message)
        await chat.bot.idle()
    assert len(chat.messenger.answers) == 2
    assert [shown for message, _, shown in chat.messenger.marks if message == "m1"] == [True, False, True, False]


@pytest.mark.parametrize("why", ["judged", "old", "another's", "too often", "known", "not admitted"])
async def test_other_edits_change_nothing(chat: Chat, why: str) -> None:
    chat.oracle.unknown |= {"lnch?", *(f"lunch {n}?" for n in range(6))} if why != "known" else set()
    posted = await chat.ask("lnch?", message_id="m1")
    by = ANA
    match why:
        case "judged":
            await chat.react(posted, "👎", BOB)
        case "old":
            chat.world.clock.tick(days=1)
        case "another's":
            by = BOB
        case "too often":
            for number in range(5):
                await edit(chat, "m1", f"lunch {number}?")
                await chat.bot.idle()
        case "not admitted":
            settings = chat.world.memory.chat_settings
            settings.change(scope("tea"), Role.ADMIN, ALLOWED_PEOPLE, "tea", everywhere=True)
        case _:
            pass
    before = list(chat.oracle.asked)
    await chat.sink(PersonEdit(event_id="e", scope=by, message_id="m1", text="lunch?", at=chat.world.clock.tick()))
    await chat.bot.idle()
    assert chat.oracle.asked == before


async def test_an_edit_while_the_new_text_is_worked_on_begins_that_again(chat: Chat) -> None:
    chat.oracle.unknown.add("lnch?")
    chat.oracle.gates["lunhc?"] = asyncio.Event()
    await chat.ask("lnch?", message_id="m1")
    assert await chat.oracle.arrived.get() == "lnch?"
    await edit(chat, "m1", "lunhc?")
    assert await chat.oracle.arrived.get() == "lunhc?"
    await edit(chat, "m1", "lunch?")
    await chat.bot.idle()
    assert chat.messenger.answers[-1] == "the answer to lunch?"
    assert chat.messenger.notices == []


async def test_an_edit_of_what_is_being_posted_is_told_that_it_came_too_late(chat: Chat) -> None:
    async def edits() -> None:
        chat.messenger.after_post = None
        await edit(chat, "m1", "lunch?")

    chat.messenger.after_post = edits
    await chat.sink(chat.message("lnch?", message_id="m1"))
    await chat.bot.idle()
    assert (chat.messenger.answers, chat.messenger.notices) == (["the answer to lnch?"], [EDITED_TOO_LATE])
    await edit(chat, "m1", "dinner?")
    assert chat.messenger.notices == [EDITED_TOO_LATE]


async def test_who_edits_again_and_again_gets_an_answer_all_the_same(chat: Chat) -> None:
    texts = [f"question {number}" for number in range(9)]
    for text in texts:
        chat.oracle.gates[text] = asyncio.Event()
    await chat.sink(chat.message(texts[0], message_id="m1"))
    for text in texts[1:]:
        await chat.oracle.arrived.get()
        await edit(chat, "m1", text)
        if chat.messenger.notices:
            break
    chat.oracle.gates[chat.oracle.asked[-1]].set()
    await chat.bot.idle()
    assert chat.messenger.answers == [f"the answer to {texts[5]}"]
    assert chat.messenger.notices == [EDITED_TOO_LATE]


async def test_a_deleted_question_is_not_answered(chat: Chat) -> None:
    gate = chat.oracle.gates["first"] = asyncio.Event()
    await chat.sink(chat.message("first", message_id="m1"))
    await chat.sink(chat.message("second", message_id="m2"))
    await chat.oracle.arrived.get()
    for message_id in ("m2", "m9", "m1"):
        await delete(chat, message_id)
    gate.set()
    await chat.bot.idle()
    assert (chat.messenger.answers, chat.oracle.asked) == ([], ["first"])
    assert chat.world.memory.recording.unfinished() == []


async def test_an_answer_is_stopped_only_when_its_deleted_question_is_gone(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, left = chat.bot.conversations.stop_message, list[int]()

    def stop_message(scope: Scope, message_id: str) -> None:
        left.append(len(chat.world.memory.recording.unfinished()))
        stop(scope, message_id)

    monkeypatch.setattr(chat.bot.conversations, "stop_message", stop_message)
    chat.oracle.gates["first"] = asyncio.Event()
    await chat.sink(chat.message("first", message_id="m1"))
    await chat.oracle.arrived.get()
    await delete(chat, "m1")
    await chat.bot.idle()
    assert (left, chat.messenger.answers) == ([0], [])


async def test_deleting_an_answered_question_archives_what_nobody_decided(chat: Chat) -> None:
    await chat.ask("lunch?", message_id="m1")
    liked = await chat.ask("dinner?", message_id="m2")
    await chat.react(liked, "👍")
    for message_id in ("m1", "m2"):
        await delete(chat, message_id)
    assert chat.world.memory.audit.statistics(ANA.workspace)[0]["archived"] == 1
    assert len(chat.world.recalled("dinner?")) == 1


async def test_a_button_is_a_vote_like_any_other(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    await vote(chat, posted, 1)
    assert chat.messenger.marks == [(posted, "🧠", True)]
    await vote(chat, posted, -1)
    await vote(chat, posted, -1)
    assert len(chat.messenger.notices) == 1, "asked once what would have been right"
    await vote(chat, posted, 0)
    assert chat.messenger.marks[-1] == (posted, "🧠", False)
    await chat.react(posted, "👍")
    await vote(chat, posted, -1)
    assert chat.world.memory.audit.statistics(ANA.workspace)[0]["verdict.failure"] == 1, "the latest word of one person"


async def test_try_again_answers_the_same_question_anew(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    retry = PersonRetry(event_id="r1", scope=ANA, message_id=posted, at=chat.world.clock())
    await chat.sink(retry)
    await chat.sink(retry)
    await chat.bot.idle()
    assert chat.oracle.asked == ["lunch?", "lunch?"]
    await chat.sink(replace(retry, event_id="r2", message_id="nowhere"))
    assert "do not know that answer" in chat.messenger.notices[-1]


async def test_what_is_taught_reaches_as_far_as_the_teacher_may(chat: Chat) -> None:
    assert "your lesson" in await teach(chat, ANA, audience=Audience.WORKSPACE)
    assert (
        len(chat.world.recalled("where is the ladder?", ANA)),
        chat.world.recalled("where is the ladder?", BOB),
    ) == (
        1,
        [],
    )
    assert "whole workspace" in await teach(chat, TEA, role=Role.TEACHER, audience=Audience.WORKSPACE)
    elsewhere = replace(BOB, channel="c9")
    assert len(chat.world.recalled("where is the ladder?", elsewhere)) == 1
    private = replace(TEA, channel="p1", visibility=Visibility.PRIVATE)
    assert "everybody in" in await teach(chat, private, role=Role.TEACHER, audience=Audience.WORKSPACE)


async def test_a_moderator_clears_reactions(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    await chat.react(posted, "👍")
    await chat.react(posted, "👎", BOB)
    cleared = ReactionsCleared(event_id="c1", scope=TEA, message_id=posted, at=chat.world.clock.tick(), emoji="👍")
    await chat.sink(cleared)
    await chat.sink(cleared)
    run = chat.world.memory.recording
    assert chat.messenger.marks[-1] == (posted, "🧠", False)
    assert run.unfinished() == []
    await chat.sink(replace(cleared, event_id="c2", emoji="", at=chat.world.clock.tick()))
    with chat.store.read() as tx:
        run_id = tx.teaching.newest_answer(ANA.workspace, "c1")
        assert run_id is not None
        assert tx.teaching.votes(ANA.workspace, run_id) == []
        assert tx.episodes.of_run(ANA.workspace, run_id)[0].verdict is Verdict.PENDING


async def test_a_command_in_a_thread_means_the_answer_there_although_another_came_later(chat: Chat) -> None:
    here, elsewhere = replace(ANA, thread="t1"), replace(ANA, thread="t2")
    await chat.ask("capital of Germany?", here)
    await chat.ask("capital of Spain?", elsewhere)
    assert "Germany" in await chat.command("why", by=here)
    await chat.correct("Berlin.", here)
    episodes = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(roots_only=True))
    by_goal = {each.goal: each.correction for each in episodes if each.origin is Origin.RUN}
    assert by_goal == {"capital of Germany?": "Berlin.", "capital of Spain?": ""}
    assert "Spain" in await chat.command("why", by=replace(ANA, thread="t3"))
    assert "Spain" in await chat.command("why", by=ANA)
