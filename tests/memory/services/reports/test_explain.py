"""Why: the numbers behind an answer and behind a lesson, and what of it is told to whom."""

from dataclasses import fields

import pytest

from bot.conversation.explanations.explanation import explain
from bot.conversation.explanations.lesson_explanation import explain_lesson
from memory.errors import NotFound
from memory.model import Audience, Episode, EventKind, Role, Signal, Verdict, Visibility
from memory.services.reports.explain import LessonExplanation
from tests.doubles.conversation import ANA, BOB, Chat
from tests.doubles.memory_world import World, scope

W = "terminal:w"


@pytest.fixture
def world() -> World:
    return World()


def taught(world: World) -> list[Episode]:
    lessons = [world.ask(f"deploy the {what}", "Run make release.") for what in ("shop", "blog", "docs")]
    for lesson in lessons:
        world.react(lesson)
        world.react(lesson, by="tea", role=Role.TEACHER)
    world.memory.upkeep.run("consolidate")
    return lessons


def test_an_answer_has_every_stage_exemplar_vote_and_rule(world: World) -> None:
    lessons = taught(world)
    answer = world.ask("deploy the blog", "Run make release.", of=scope("bob"))
    story = world.memory.explaining.answer(W, answer.run_id)
    (recall,) = story.recalls
    assert [name for name, _ in recall.stages] == [
        "total_loaded", "env_matched", "env_top_k", "state_ranked", "gated", "deduped", "above_threshold",
        "selected", "linked", "env_fallback",
    ]  # fmt: skip
    (shown,) = [each for each in recall.shown if each.item.episode_id == lessons[1].id]
    assert (shown.audience, shown.item.signal) == (Audience.CHANNEL, Signal.USED)
    assert [(each.vote.actor, each.vote.role, each.weight) for each in shown.votes] == [
        ("ana", Role.MEMBER, 2.0),  # the teacher confirmed her twice
        ("tea", Role.TEACHER, 2.0),
    ]
    (rule,) = recall.rules
    assert set(rule.lesson_ids) == {lesson.id for lesson in lessons}
    told = explain(story, scope("bob"))
    assert f"“deploy the blog” by ana [{lessons[1].id[-8:]}, channel]" in told
    assert "tea 👍 (teacher, weighs 2.00)" in told
    assert "part 0: 3 searched, 3 near enough, 1 chosen" in told
    assert "total_loaded 3, " in explain(story, None)
    assert all(f"[{lesson.id[-8:]}]" in told for lesson in lessons)


def test_what_the_reader_may_not_see_is_counted(world: World) -> None:
    taught(world)
    answer = world.ask("deploy the blog", "Run make release.")
    story = world.memory.explaining.answer(W, answer.run_id)
    told = explain(story, scope("bob", channel="c2"))
    assert "deploy the shop" not in told
    assert "make release" not in told
    assert f"and {len(story.recalls[0].shown)} that are not yours to see or were forgotten" in told
    assert "3 not yours to see or forgotten" in told
    assert "deploy the shop" in explain(story, None)


def test_a_lesson_has_its_votes_its_moves_and_its_uses(world: World) -> None:
    lesson = world.ask("where is the key", "under the pot")
    world.react(lesson)
    world.react(lesson, by="tea", role=Role.TEACHER)
    world.react(lesson, "👎", by="bob")
    curation = world.memory.curation
    curation.promote(W, lesson.id, Audience.WORKSPACE, actor="tea", role=Role.TEACHER)
    world.ask("where is the key", "under the pot", of=scope("bob"))
    world.clock.tick(days=60)
    story = world.memory.explaining.lesson(W, lesson.id)
    assert [(each.audience, each.verdict, [v.vote.actor for v in each.votes]) for each in story.verdicts] == [
        (Audience.PERSONAL, Verdict.SUCCESS, ["ana"]),
        (Audience.CHANNEL, Verdict.SUCCESS, ["tea"]),
        (Audience.WORKSPACE, Verdict.SUCCESS, ["tea"]),
    ]
    assert [each.kind for each in story.decisions] == [EventKind.PROMOTED]
    assert [move.event.kind for move in story.moves][-2:] == [EventKind.INJECTED, EventKind.USED]
    assert (story.moves[-1].strength, story.moves[-1].salience) == (
        story.episode.strength,
        story.episode.salience,
    )
    assert story.strength_now < story.episode.strength
    assert story.salience_now < story.episode.salience
    assert story.totals == {"used": 1, "ignored": 0, "unknown": 0, "contradicted": 0}
    told = explain_lesson(story, None)
    assert "votes without effect: bob 👎 (member, weighs 1.00)" in told
    assert "shared with the workspace" in told
    assert "used 1, ignored 0" in told
    with pytest.raises(NotFound):
        world.memory.explaining.lesson("terminal:other", lesson.id)


def test_what_stands_behind_a_lesson_is_named(world: World) -> None:
    first, second = (world.ask("where is the key", "under the pot") for _ in range(2))
    for lesson in (first, second):
        world.react(lesson)
    world.memory.upkeep.run("join")
    kept, joined = sorted([first, second], key=lambda e: world.episode(e).archived_at is not None)
    assert [each.id for each in world.memory.explaining.lesson(W, kept.id).joined] == [joined.id]
    assert world.memory.explaining.lesson(W, joined.id).stands_in == kept.id
    assert "stands for 1 more" in explain_lesson(world.memory.explaining.lesson(W, kept.id), scope())


def test_what_a_lessons_story_is_made_of_keeps_its_names() -> None:
    """They are the keys of `goodbot episodes why --json`."""
    assert [field.name for field in fields(LessonExplanation)] == [
        "episode", "verdicts", "votes", "decisions", "joined", "stands_in", "strength_now", "salience_now", "moves",
        "uses", "totals", "message",
    ]  # fmt: skip


def test_others_questions_are_counted_in_a_lessons_story(world: World) -> None:
    lesson = world.ask("where is the key", "under the pot")
    world.react(lesson, by="tea", role=Role.TEACHER)
    world.ask("where is the spare key of bob", "under the pot", of=scope("bob"))
    story = world.memory.explaining.lesson(W, lesson.id)
    assert "spare" not in explain_lesson(story, scope("ana"))
    assert "1 more, earlier or not yours" in explain_lesson(story, scope("ana"))
    assert "spare" in explain_lesson(story, scope("bob"))


async def test_in_the_chat_why_takes_the_id_of_a_lesson() -> None:
    chat = Chat()
    posted = await chat.ask("when is lunch?")
    await chat.react(posted, "👍")
    with chat.store.read() as tx:
        entry = tx.teaching.ledger(ANA.workspace, ANA.channel, posted, chat.world.clock())
        assert entry is not None
        lesson = tx.episodes.of_run(ANA.workspace, entry.run_id)[0]
    told = await chat.command("why", lesson.id[-8:])
    assert "As a lesson** “when is lunch?”" in told
    assert "personal: approved" in told
    assert "no such lesson" in await chat.command("why", lesson.id[-8:], by=BOB)
    assert lesson.visibility is Visibility.PUBLIC
