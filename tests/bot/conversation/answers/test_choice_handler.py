"""A question that offers something: the asker chooses and is answered, others choose and are only noted."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.agent.tools.registry import Tool, ToolContext
from bot.conversation.answers.choice_messages import reply_to_choice
from memory.model import ASK, Episode, Incoming, Option, Reaction, Role, Scope, Verdict
from memory.model.evidence import INITIAL_THRESHOLD, ActionText
from memory.ports import EpisodeFilter
from memory.services import ChoiceResult
from tests.doubles.conversation import ANA, BOB, TEA, Chat, direct
from tests.doubles.model import call

GOAL, YARD, CELLAR = "where do I leave it?", "In the yard.", "In the cellar."
OPTIONS = [{"answer": YARD}, {"label": "the shed", "tool": "shed", "arguments": {"key": "4711"}}, {"answer": CELLAR}]


def shed(opened: list[Mapping[str, object]], *, has_side_effects: bool = False) -> Tool:
    async def run(arguments: Mapping[str, object], _: ToolContext) -> str:
        opened.append(arguments)
        return "The shed is open."

    return Tool(
        name="shed",
        description="Opens the shed. It is behind the house.",
        parameters={"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]},
        run=run,
        has_side_effects=has_side_effects,
    )


@pytest.fixture
def opened() -> list[Mapping[str, object]]:
    return []


@pytest.fixture
async def chat(opened: list[Mapping[str, object]]) -> AsyncIterator[Chat]:
    chat = Chat(tools=[shed(opened)])
    chat.world.actions = [ActionText(name="shed", description="Opens the shed.")]
    chat.oracle.answers[GOAL] = call("ask_person", question="Which one?", options=OPTIONS)
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    assert chat.world.memory.audit.check() == []


async def choose(chat: Chat, number: int, by: Scope = ANA, role: Role = Role.MEMBER) -> str:
    """Press a button of the first question; the text posted last."""
    question = next(post for post in chat.messenger.posts if post.choices)
    choice = question.choices[number - 1]
    said = await chat.command(choice.command, choice.argument, by, role=role)
    await chat.bot.idle()
    return chat.messenger.posts[-1].text if chat.messenger.posts else said


def beliefs(chat: Chat, of: Scope = ANA) -> dict[str, float]:
    """What the evidence says about the question, by answer or tool."""
    actions = [ActionText(name="shed", description="Opens the shed.")]
    evidence = chat.world.memory.recalling.weighing.weigh(of, GOAL, actions)
    return {each.text or each.action: each.value - each.prior for each in evidence.beliefs}


def roots(chat: Chat) -> list[Episode]:
    """Every first node, oldest first."""
    found = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(roots_only=True))
    return sorted((chat.world.episode(each) for each in found), key=lambda each: (each.created_at, each.id))


def votes_of(chat: Chat, person: str) -> list[Reaction]:
    """What stands of this person's reactions."""
    with chat.world.memory.store.read() as tx:
        return [each for each in tx.teaching.reactions_by(ANA.workspace, person) if each.is_active]


async def test_a_question_shows_what_it_offers_and_none_of_these_last(chat: Chat) -> None:
    await chat.ask(GOAL)
    (post,) = chat.messenger.posts
    assert post.text == f"Which one?\n\n- “{YARD}”\n- the shed\n- “{CELLAR}”"
    assert [choice.label for choice in post.choices] == [YARD, "the shed", CELLAR, "None of these"]
    assert {choice.command for choice in post.choices} == {"choose"}
    assert all(len(f"{choice.command}{choice.argument}") <= 80 for choice in post.choices)
    assert (post.is_answer, roots(chat)[0].action) == (True, ASK)


async def test_the_askers_choice_is_answered_at_once_and_counts_like_an_approval(chat: Chat) -> None:
    await chat.ask(GOAL)
    assert await choose(chat, 1) == YARD
    assert len(chat.oracle.asked) == 1
    question, answer = roots(chat)
    assert (question.verdict, answer.verdict) == (Verdict.PENDING, Verdict.SUCCESS)
    assert (answer.goal, answer.author, answer.action) == (GOAL, "ana", "answer")
    assert chat.mark == {"post-2": True}
    assert beliefs(chat)[YARD] > 0.3
    (rating,) = chat.world.memory.ratings.of(ANA.workspace, "ana")
    assert (rating.vote.source, rating.vote.value) == ("tap", 1)


async def test_the_askers_thumb_on_a_question_with_one_option_chooses_it_until_it_is_taken_off(chat: Chat) -> None:
    chat.oracle.answers[GOAL] = call("ask_person", question="Did you mean this?", options=OPTIONS[:1])
    question = await chat.ask(GOAL)
    await chat.react(question, by=BOB)
    await chat.bot.idle()
    assert chat.messenger.answers[1:] == []
    for emoji in ("👍", "🎉"):
        await chat.react(question, emoji)
        await chat.bot.idle()
    assert chat.messenger.answers[1:] == [YARD]
    assert roots(chat)[1].verdict is Verdict.SUCCESS
    assert beliefs(chat)[YARD] > 0.3
    await chat.react(question, "🎉", added=False)
    assert roots(chat)[1].verdict is Verdict.SUCCESS
    await chat.react(question, added=False)
    assert roots(chat)[1].verdict is Verdict.PENDING


async def test_a_thumb_chooses_none_of_several_options_and_allows_no_tool(
    chat: Chat, opened: list[Mapping[str, object]]
) -> None:
    await chat.react(await chat.ask(GOAL))
    await chat.bot.idle()
    assert chat.messenger.answers[1:] == []
    other = Chat(tools=[shed(opened, has_side_effects=True)])
    other.oracle.answers[GOAL] = call("shed", key="4711")
    await other.react(await other.ask(GOAL))
    await other.bot.idle()
    assert opened == []
    other.executor.close()


async def test_a_choice_is_surer_than_a_thumb(chat: Chat) -> None:
    await chat.ask(GOAL)
    await choose(chat, 1)
    tapped = beliefs(chat)[YARD]
    other = Chat()
    other.oracle.answers[GOAL] = YARD
    await other.react(await other.ask(GOAL), "👍")
    assert tapped > beliefs(other)[YARD] > 0
    other.executor.close()


async def test_a_chosen_tool_runs_with_what_was_offered_and_the_model_may_finish(
    chat: Chat, opened: list[Mapping[str, object]]
) -> None:
    await chat.ask(GOAL)
    chat.oracle.answers[GOAL] = "It is open now."
    assert await choose(chat, 2) == "It is open now."
    assert opened == [{"key": "4711"}]
    assert roots(chat)[1].action == "shed"
    assert beliefs(chat)["shed"] > 0.1


async def test_taking_the_choice_back_works_as_with_any_vote(chat: Chat) -> None:
    await chat.ask(GOAL)
    await choose(chat, 1)
    assert "your choice" in await chat.command("undo")
    assert roots(chat)[1].verdict is Verdict.PENDING
    assert beliefs(chat).get(YARD, 0) == 0


async def test_pressing_twice_is_pressing_once_and_another_option_replaces_the_first(chat: Chat) -> None:
    await chat.ask(GOAL)
    for _ in range(2):
        await choose(chat, 1)
    assert chat.messenger.answers[1:] == [YARD]
    assert await choose(chat, 3) == CELLAR
    assert [each.verdict for each in roots(chat)[1:]] == [Verdict.PENDING, Verdict.SUCCESS]
    assert await choose(chat, 1) == YARD
    assert [each.verdict for each in roots(chat)[1:]] == [Verdict.PENDING, Verdict.PENDING, Verdict.SUCCESS]


async def test_of_somebody_elses_choices_the_last_one_holds(chat: Chat) -> None:
    await chat.ask(GOAL)
    question = roots(chat)[0].run_id
    standing = []
    for number in (1, 2, 4, 1, 1):
        await choose(chat, number, BOB)
        standing.append([(each.run_id == question, each.value) for each in votes_of(chat, "bob")])
    assert standing == [[(False, 1)], [(False, 1)], [(True, -1)], [(False, 1)], [(False, 1)]]
    approved = [each for each in roots(chat) if each.verdicts.personal is Verdict.SUCCESS]
    assert [each.output for each in approved] == [YARD]
    assert chat.world.memory.audit.check() == []


async def test_none_of_these_refuses_all_that_was_offered_and_asks_what_is_right(chat: Chat) -> None:
    await chat.ask(GOAL)
    assert "!correct" in await choose(chat, 4)
    assert chat.messenger.posts[-1].private_to == "ana"
    (question,) = roots(chat)
    assert question.verdict is Verdict.FAILURE
    told = beliefs(chat)
    assert set(told) == {YARD, CELLAR, "shed"}
    assert all(value < -0.1 for value in told.values())
    assert chat.world.recalled(GOAL) == []


async def test_a_thumb_down_on_the_question_means_the_same(chat: Chat) -> None:
    posted = await chat.ask(GOAL)
    await chat.react(posted, "👎")
    assert beliefs(chat)[YARD] < -0.1
    await chat.react(posted, "👎", added=False)
    assert YARD not in beliefs(chat)


async def test_a_thumb_up_on_the_question_is_no_lesson_to_repeat(chat: Chat) -> None:
    posted = await chat.ask(GOAL)
    await chat.react(posted, "👍")
    assert set(beliefs(chat)) == {"shed"}
    assert chat.world.recalled(GOAL) == []
    assert posted not in chat.mark
    assert GOAL not in await chat.command("memory")
    assert GOAL not in await chat.command("review", by=TEA, role=Role.TEACHER)
    await chat.react(posted, "👍", added=False)
    assert chat.mark.get(posted) in (None, False)


async def test_a_model_judges_no_question(chat: Chat) -> None:
    await chat.ask(GOAL)
    await chat.ask("lunch?")
    waiting = chat.world.memory.model_grades.waiting(timedelta(days=-1), 10)
    assert [root.goal for root, *_ in waiting] == ["lunch?"]


async def test_a_choice_after_none_of_these_takes_that_back(chat: Chat) -> None:
    await chat.ask(GOAL)
    await choose(chat, 4)
    assert await choose(chat, 1) == YARD
    assert [each.verdict for each in roots(chat)] == [Verdict.PENDING, Verdict.SUCCESS]
    await choose(chat, 4)
    assert [each.verdict for each in roots(chat)] == [Verdict.FAILURE, Verdict.PENDING]


async def test_what_would_have_been_right_can_be_told_afterwards(chat: Chat) -> None:
    await chat.ask(GOAL)
    await choose(chat, 4)
    await chat.correct("At the desk.")
    assert beliefs(chat)["At the desk."] > beliefs(chat)[YARD]


async def test_somebody_elses_choice_is_an_opinion_of_theirs_and_answers_nobody(chat: Chat) -> None:
    await chat.ask(GOAL)
    said = await choose(chat, 2, BOB)
    assert (chat.messenger.posts[-1].private_to, chat.messenger.answers) == ("bob", chat.messenger.answers[:1])
    assert "the shed" in said
    await choose(chat, 2, BOB)
    (opinion,) = (each for each in roots(chat) if each.action != ASK)
    assert (opinion.author, opinion.action, opinion.goal) == ("bob", "shed", GOAL)
    assert beliefs(chat, BOB)["shed"] > 0.1
    assert 0 < beliefs(chat, ANA)["shed"] < INITIAL_THRESHOLD  # a proposal, until somebody else agrees


async def test_a_teachers_choice_on_somebody_elses_question_counts_for_the_channel(chat: Chat) -> None:
    await chat.ask(GOAL)
    await choose(chat, 1, BOB, Role.TEACHER)
    assert beliefs(chat, ANA)[YARD] > 0.3


async def test_who_may_not_see_the_question_learns_nothing(chat: Chat) -> None:
    private = direct("ana")
    await chat.ask(GOAL, private)
    assert "not yours to answer" in await choose(chat, 1, BOB)
    assert len(roots(chat)) == 1
    assert await choose(chat, 1, private) == YARD


async def test_an_old_button_of_a_forgotten_question_says_so(chat: Chat) -> None:
    await chat.ask(GOAL)
    await chat.command("forget", "yes")
    assert "do not know that question" in await choose(chat, 1)
    assert chat.messenger.posts[-1].private_to == "ana"


@pytest.mark.parametrize("argument", ["", "7", "0", "none none", "deadbeefdeadbeef 1"])
async def test_a_choice_that_names_nothing_is_answered_kindly(chat: Chat, argument: str) -> None:
    await chat.ask(GOAL)
    said = await chat.command("choose", argument)
    assert said.startswith("I do not know that question" if "deadbeef" in argument else "There is nothing to choose")


async def test_the_number_alone_means_the_newest_answer(chat: Chat) -> None:
    await chat.ask(GOAL)
    await chat.command("choose", "3")
    await chat.bot.idle()
    assert chat.messenger.answers[-1] == CELLAR


async def test_after_a_restart_the_question_is_posted_with_its_choices_and_can_be_chosen_from(chat: Chat) -> None:
    chat.messenger.fails = {"post"}
    await chat.ask(GOAL)
    later = Chat(world=chat.world)
    await later.bot.recovery.resume(later.messenger)
    await later.bot.idle()
    assert len(later.messenger.posts[-1].choices) == 4
    assert await choose(later, 1) == YARD
    later.executor.close()


async def test_a_choice_that_was_accepted_is_answered_after_a_restart(chat: Chat) -> None:
    await chat.ask(GOAL)
    run_id = roots(chat)[0].run_id
    accepted = accept(chat, run_id, 1)
    assert accepted.message is not None
    later = Chat(world=chat.world)
    await later.bot.recovery.resume(later.messenger)
    await later.bot.idle()
    assert later.messenger.answers == [YARD]
    assert roots(chat)[1].verdict is Verdict.SUCCESS
    assert accept(chat, run_id, 1).message is None
    later.executor.close()


def accept(chat: Chat, run_id: str, number: int) -> ChoiceResult:
    """The press as it is stored, by the same event."""
    return chat.world.memory.choices.choose(
        ANA, run_id, number, role=Role.MEMBER, at=chat.world.clock.tick(), event_id="press"
    )


async def test_a_choice_whose_question_went_meanwhile_is_answered_as_the_question_is(chat: Chat) -> None:
    await chat.ask(GOAL)
    run_id = roots(chat)[0].run_id
    accept(chat, run_id, 1)
    chat.world.memory.privacy.erase_run(ANA.workspace, run_id)
    chat.oracle.answers[GOAL] = "By the door."
    await chat.bot.recovery.resume(chat.messenger)
    await chat.bot.idle()
    assert chat.messenger.answers[-1] == "By the door."
    assert roots(chat)[0].verdict is Verdict.PENDING


async def test_forgetting_who_taught_an_answer_erases_the_question_that_offers_it(chat: Chat) -> None:
    chat.oracle.answers["where is it left?"] = YARD
    await chat.react(await chat.ask("where is it left?", BOB), "👍", BOB, role=Role.TEACHER)
    evidence = chat.world.memory.recalling.weighing.weigh(ANA, GOAL, [])
    lesson = next(each for each in evidence.beliefs if each.text == YARD)
    assert lesson.weights
    await chat.ask(GOAL)
    await choose(chat, 1)
    await chat.command("forget", "yes", BOB)
    assert [YARD in str(each) for each in roots(chat)] == []
    assert "do not know that question" in await choose(chat, 1)


async def test_an_answer_that_was_taken_back_can_not_be_chosen_any_more(chat: Chat) -> None:
    chat.oracle.answers["where is it left?"] = YARD
    posted = await chat.ask("where is it left?", BOB)
    await chat.react(posted, "👍", BOB, role=Role.TEACHER)
    await chat.ask(GOAL)
    await chat.react(posted, "👍", BOB, role=Role.TEACHER, added=False)
    answers = list(chat.messenger.answers)
    assert "do not know that question" in await choose(chat, 1)
    assert chat.messenger.answers == answers


@pytest.mark.parametrize("what", ["archived", "refused", "undone"])
async def test_what_its_own_author_or_anybody_took_out_of_use_can_not_be_chosen_any_more(chat: Chat, what: str) -> None:
    teaching, failed = chat.world.memory.teaching, chat.world.ask("where is it left?", "I don't know.")
    curation = chat.world.memory.curation
    lesson = chat.world.correct(failed, YARD)
    await chat.ask(GOAL)
    match what:
        case "archived":
            curation.archive(ANA.workspace, lesson.id, actor="tea")
        case "refused":
            chat.world.clock.tick()
            teaching.grade(ANA.workspace, lesson.id, Verdict.FAILURE, actor="adm")
        case _:
            await chat.command("undo")
    assert "do not know that question" in await choose(chat, 1)
    assert await choose(chat, 3) == CELLAR


async def test_what_was_joined_with_another_lesson_can_be_chosen_all_the_same(chat: Chat) -> None:
    def taught() -> Episode:
        failed = chat.world.ask("where is it left?", "I don't know.", of=BOB)
        return chat.world.correct(failed, YARD, by="bob", role=Role.TEACHER)

    one = taught()
    await chat.ask(GOAL)
    other = taught()
    for _ in range(2):
        chat.world.ask("where is it left?", YARD, of=BOB)
    chat.world.memory.upkeep.run("join")
    assert chat.world.episode(one).archived_at is not None
    assert chat.world.episode(other).archived_at is None
    assert await choose(chat, 1) == YARD


async def test_a_message_says_what_it_chose(chat: Chat) -> None:
    await chat.ask(GOAL)
    await choose(chat, 3)
    run_id = roots(chat)[0].run_id
    with chat.store.read() as tx:
        (tapped,) = tx.deliveries.taps(ANA.workspace, run_id)
    assert isinstance(tapped, Incoming)
    assert (tapped.text, tapped.tap.number if tapped.tap else 0, tapped.scope) == (GOAL, 3, replace(ANA))


async def test_lists_name_the_options_of_a_question_that_was_refused(chat: Chat) -> None:
    await chat.ask(GOAL)
    await chat.command("choose", "none")
    for listed in ("memory", "ratings"):
        assert f"I asked which of these: “{YARD}”, “the shed”, “{CELLAR}” " in await chat.command(listed)


async def test_why_says_who_chose_it_and_from_what_and_stats_count_it(chat: Chat) -> None:
    await chat.ask(GOAL)
    told = await chat.command("why")
    assert f"**Asked**, because I was not sure: I offered “{YARD}”; “the shed”; “{CELLAR}”." in told
    await choose(chat, 3)
    told = await chat.command("why")
    assert f"**Chosen** by ana: “{CELLAR}”, when I offered “{YARD}”; “the shed”; “{CELLAR}”." in told
    await chat.ask(GOAL, BOB)
    counts = chat.world.memory.audit.statistics(ANA.workspace)[0]
    assert (counts["asked"], counts["asked.tapped"]) == (2, 1)


async def test_who_writes_what_the_question_offered_refuses_none_of_it(chat: Chat) -> None:
    answered = await chat.ask(GOAL)
    await chat.correct("in the yard", message_id=answered)
    assert [(each.action, each.verdict) for each in roots(chat)] == [
        (ASK, Verdict.PENDING),
        ("answer", Verdict.SUCCESS),
    ]
    assert beliefs(chat)["in the yard"] > INITIAL_THRESHOLD
    assert min(beliefs(chat).values()) > -0.02
    await chat.correct("At the desk.", message_id=answered)
    assert roots(chat)[0].verdict is Verdict.FAILURE


def test_whoever_else_chose_is_told_the_answer_without_its_question() -> None:
    option = Option(
        action="answer", label="Yes. (is there any parking?)", text="Yes.", question="is there any parking?"
    )
    said = reply_to_choice(ChoiceResult(is_asker=False, option=option), lambda command: f"/{command}")
    assert said.startswith("Noted: you would say “Yes.”. The question was somebody else's")
    tool = Option(action="shed", label="Opens the shed")
    assert "“Opens the shed”" in reply_to_choice(
        ChoiceResult(is_asker=False, option=tool), lambda command: f"/{command}"
    )
