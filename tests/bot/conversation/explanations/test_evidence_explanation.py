"""The evidence in words: one sentence a member understands, the numbers behind it, and whose lessons are not quoted."""

from dataclasses import replace

import pytest

from bot.conversation.explanations.evidence_explanation import explain_evidence
from bot.conversation.explanations.explanation import explain
from memory.model import Episode, Role, Scope, Termination, Visibility
from memory.model.evidence import ActionText, BeliefRecord, EvidenceRecord, WeightRecord
from tests.doubles.conversation import BOB, Chat
from tests.doubles.memory_world import World, scope
from tests.doubles.model import call
from tests.memory.adapters.store_samples import episode

KEY = episode("0123key1", goal="where is the spare key?", output="Under the blue pot.")
SHED = episode("0123shed", goal="where is the key of the shed?", output="Under the  blue\npot.")
TIME = episode("0123time", goal="what time is it?", output="Noon.")
LESSONS = {each.id: each for each in (KEY, SHED, TIME)}
MEMBER = KEY.scope


def weight(lesson: Episode | str, effect: float, *, approves: bool = True, weight: float | None = None) -> WeightRecord:
    name = lesson if isinstance(lesson, str) else lesson.id
    return WeightRecord(episode_id=name, weight=effect if weight is None else weight, effect=effect, approves=approves)


def belief(value: float, *weights: WeightRecord, action: str = "answer", prior: float = 0.0) -> BeliefRecord:
    return BeliefRecord(action=action, value=value, prior=prior, weights=weights)


def story(*beliefs: BeliefRecord, nearest: float = 0.93, lessons: int = 12, reader: Scope | None = MEMBER) -> list[str]:
    evidence = EvidenceRecord(beliefs=beliefs, nearest=nearest, lessons=lessons)
    return explain_evidence(evidence, LESSONS, reader)


CLOCK = belief(0.11, weight(KEY, -0.02, weight=0.5), action="clock", prior=0.13)
POT = belief(0.62, weight(KEY, 0.5), weight(SHED, 0.12))


def test_the_best_belief_with_its_reason_and_the_next_best() -> None:
    assert story(POT, CLOCK) == [
        "What people said of the 12 most similar questions speaks for “Under the blue pot.” (belief 0.62), "
        "mostly because "
        "it was approved for “where is the spare key?”; next best: clock (0.11).",
        "- “Under the blue pot.”: belief 0.62, 0.00 without these lessons",
        "  - “where is the spare key?” approved [0123key1]: adds +0.50 (weight 0.50)",
        "  - “where is the key of the shed?” approved [0123shed]: adds +0.12 (weight 0.12)",
        "- clock: belief 0.11, 0.13 without these lessons",
        "  - “where is the spare key?” approved for something else [0123key1]: adds -0.02 (weight 0.50)",
        "- confidence 0.53 (the best belief less 0.8 of its best rival), 0.16 needed; nearest 0.93, lessons 12",
    ]


def test_one_lesson_is_one_verdict() -> None:
    sentence, *_ = story(belief(0.5, weight(KEY, 0.5)), lessons=1)
    assert sentence == (
        "What people said of the most similar question speaks for “Under the blue pot.” (belief 0.50), mostly because "
        "it was approved for “where is the spare key?”."
    )


@pytest.mark.parametrize(
    ("beliefs", "nearest", "lessons", "sentence"),
    [
        ((), 0.0, 0, "Nobody has taught me anything like this."),
        ((belief(0.02, weight(KEY, 0.02)),), 0.31, 3, "Nobody has taught me anything like this (similarity up "
        "to 0.31)."),
        (
            (belief(0.83, action="clock", prior=0.83),), 0.31, 3,
            "Nobody has taught me anything like this (similarity up to 0.31); by what it is for, clock fits "
            "best (0.83).",
        ),
        (
            (belief(0.85, weight(TIME, 0.02), action="clock", prior=0.83),), 0.95, 3,
            "What people said of the 3 most similar questions changes little (similarity up to 0.95); by what "
            "it is for, clock fits best (0.85).",
        ),
        ((belief(0.03, weight(KEY, 0.03)),), 0.95, 1,
            "What people said of the most similar question changes little (similarity up to 0.95)."),
        (
            (belief(0.4, weight(TIME, -0.4, approves=False, weight=0.3), action="clock", prior=0.8),
             belief(0.3, action="search", prior=0.3)), 0.95, 3,
            "What people said of the 3 most similar questions speaks against clock (belief 0.40), mostly "
            "because it was rejected for “what "
            "time is it?”; next best: search (0.30).",
        ),
        (
            (belief(0.6, action="clock", prior=0.6), belief(0.3, weight(KEY, 0.3))), 0.95, 3,
            "What people said of the 3 most similar questions speaks for “Under the blue pot.” (belief 0.30), mostly "
            "because it was approved for “where is the spare key?”; best: clock (0.60).",
        ),
        (
            (belief(0.5, weight("gone1", 0.5)),), 0.95, 3,
            "What people said of the 3 most similar questions speaks for an answer that is gone (belief 0.50), mostly "
            "because of a lesson that is gone.",
        ),
    ],
)  # fmt: skip
def test_what_else_there_is_to_say(
    beliefs: tuple[BeliefRecord, ...], nearest: float, lessons: int, sentence: str
) -> None:
    assert story(*beliefs, nearest=nearest, lessons=lessons)[0] == sentence


def test_lessons_that_are_hidden_or_gone_are_counted() -> None:
    secret = replace(KEY, id="0123priv", visibility=Visibility.DIRECT, channel="dm", person="cy", author="cy")
    weights = (weight(secret, 0.4), weight("gone1", 0.1), weight(SHED, 0.1))
    evidence = EvidenceRecord(beliefs=(belief(0.6, *weights),), nearest=0.93, lessons=12)
    told = explain_evidence(evidence, {**LESSONS, secret.id: replace(secret, output="SECRET", goal="SECRET")}, MEMBER)
    assert told[:4] == [
        "What people said of the 12 most similar questions speaks for “Under the blue pot.” (belief 0.60), "
        "mostly because "
        "of a lesson you cannot see here.",
        "- “Under the blue pot.”: belief 0.60, 0.00 without these lessons",
        "  - “where is the key of the shed?” approved [0123shed]: adds +0.10 (weight 0.10)",
        "  - and 1 you cannot see here, 1 gone",
    ]
    hidden = explain_evidence(replace(evidence, beliefs=(belief(0.4, weights[0]),)), {secret.id: secret}, MEMBER)
    assert hidden[0].endswith(
        "speaks for an answer you cannot see here (belief 0.40), mostly because of a lesson you cannot see here."
    )
    assert hidden[2] == "  - 1 you cannot see here"


def test_an_administrator_is_told_all_that_is_kept() -> None:
    weights = [weight(LESSONS[name], 0.1) for name in LESSONS] + [weight(KEY, 0.05)]
    beliefs = [belief(0.5 - n / 10, *weights) for n in range(4)]
    assert sum("without these lessons" in line for line in story(*beliefs)) == 3
    assert sum("and 1 more" in line for line in story(*beliefs)) == 3
    assert sum("without these lessons" in line for line in story(*beliefs, reader=None)) == 4
    assert sum("adds" in line for line in story(*beliefs, reader=None)) == 16


def test_beliefs_that_matter_to_nobody_are_left_to_administrators() -> None:
    faint = [belief(0.01, weight(KEY, -0.01), action=name, prior=0.02) for name in ("list_reminders", "clock")]
    refused = belief(0.01, weight(TIME, -0.3, approves=False), prior=0.31, action="weather")
    listed = [line for line in story(POT, *faint, refused) if "without these lessons" in line]
    assert [line.split(":")[0] for line in listed] == ["- “Under the blue pot.”", "- weather"]
    assert sum("without these lessons" in line for line in story(POT, *faint, refused, reader=None)) == 4
    assert "- list_reminders: belief 0.01, 0.02 without these lessons" in story(*faint)


def test_what_people_wrote_stays_on_its_line_and_is_cut() -> None:
    lesson = replace(KEY, goal="a\n**b**\x1b[31m" + "x" * 200, output="\n- c")
    evidence = EvidenceRecord(beliefs=(belief(0.5, weight(KEY, 0.5)),), nearest=0.9, lessons=1)
    told = explain_evidence(evidence, {KEY.id: lesson}, MEMBER)
    assert not any(character in line for line in told for character in "\n\x1b")
    assert "“- c”" in told[0]
    assert "x" * 60 not in told[0]


# through the memory -------------------------------------------------------------------------------------------------


@pytest.fixture
def world() -> World:
    world = World()
    world.actions = [ActionText(name="clock", description="Tells the time of day.")]
    return world


def why(world: World, answer: Episode, reader: Scope | None) -> str:
    return explain(world.memory.explaining.answer(answer.workspace, answer.run_id), reader)


def test_why_tells_what_a_recall_weighed(world: World) -> None:
    lesson = world.ask("where is the spare key?", "Under the blue pot.")
    world.react(lesson, by="tea", role=Role.TEACHER)
    answer = world.ask("where is the spare key then?", "Under the blue pot.", of=scope("bob"))
    told = why(world, answer, scope("bob"))
    assert (
        "**What people's verdicts say**\n"
        "- What people said of the most similar question speaks for “Under the blue pot.” (belief 0.62), mostly "
        "because "
        "it was approved for “where is the spare key?”.\n"
        "  - “Under the blue pot.”: belief 0.62, 0.00 without these lessons\n"
    ) in told


def test_every_part_has_its_own(world: World) -> None:
    answer = world.ask("two things", children=[("what time is it", Termination.SUCCESS)])
    told = why(world, answer, scope())
    assert "- part 0: Nobody has taught me anything like this." in told
    assert "- part 0.0: Nobody has taught me anything like this" in told


def test_a_recall_that_weighed_nothing_says_nothing_of_it() -> None:
    world = World()
    assert "verdicts say" not in why(world, world.ask("when is lunch?"), scope())


@pytest.mark.parametrize("visibility", [Visibility.DIRECT, Visibility.PRIVATE, Visibility.PUBLIC])
def test_nobody_is_told_another_persons_private_lesson(world: World, visibility: Visibility) -> None:
    """Taught by Cy alone; Cy's answers rest on it, and others of the channel may ask why."""
    taught_in = scope("cy", channel="c1" if visibility is Visibility.PUBLIC else "here", visibility=visibility)
    lesson = world.ask("where is the zebra kept?", "In the cellar.", of=taught_in)
    world.react(lesson, by="cy")
    answer = world.ask("where is the zebra?", "Somewhere safe.", of=taught_in)
    for reader in (scope("bob"), scope("bob", channel="c2"), scope("bob", channel="dm", visibility=Visibility.DIRECT)):
        told = why(world, answer, reader)
        assert "kept?" not in told
        assert "cellar" not in told
        assert lesson.id[-8:] not in told
        assert "speaks for an answer you cannot see here (belief 0.3" in told
        assert "1 you cannot see here" in told
    assert "mostly because it was approved for “where is the zebra kept?”" in why(world, answer, taught_in)


def test_what_is_kept_has_no_texts_and_no_people_and_forgetting_reaches_what_is_shown(world: World) -> None:
    lesson = world.ask("where is the zebra kept?", "In the cellar.", of=scope("quokka"))
    world.react(lesson, by="quokka")
    world.react(lesson, by="tea", role=Role.TEACHER)
    answer = world.ask("what does a zebra eat, and where is it kept?", "Hay.", of=scope("bob"))
    ((retrieval, _),) = world.memory.audit.run(answer.workspace, answer.run_id).recalls
    assert retrieval.evidence is not None
    assert retrieval.evidence.episode_ids == {lesson.id}
    kept = repr(retrieval.evidence)
    assert not any(each in kept for each in ("zebra", "cellar", "quokka", "tea", "bob"))
    assert "zebra kept" in why(world, answer, scope("bob"))
    world.memory.privacy.forget(answer.workspace, "quokka")
    told = why(world, answer, None)
    assert "where is the zebra kept" not in told
    assert "cellar" not in told
    assert "an answer that is gone" in told
    assert world.memory.audit.check() == []


def test_without_numbers_there_are_only_words(world: World) -> None:
    lesson = world.ask("where is the spare key?", "Under the blue pot.")
    world.react(lesson, by="tea", role=Role.TEACHER)
    answer = world.ask("two things", children=[("where is the spare key then?", Termination.SUCCESS)])
    explanation = world.memory.explaining.answer(answer.workspace, answer.run_id)
    told = explain(explanation, scope("bob"), has_numbers=False)
    assert (
        "- “two things”: Nobody has taught me anything like this.\n"
        "- “where is the spare key then?”: What people said of the most similar question speaks for “Under the blue "
        "pot.”, mostly because it was approved for “where is the spare key?”.\n"
    ) in told
    assert "% match, " in told
    assert "tea 👍 (teacher)" in told
    assert not any(number in told for number in ("0.", "search for part", "weigh", "belief", "% relevant"))


async def test_in_the_chat_numbers_are_for_who_asks_for_them() -> None:
    chat = Chat()
    await chat.react(await chat.ask("when is lunch?"), "👍")
    asked = await chat.ask("when is lunch then?")
    told = await chat.command("why")
    assert told.endswith("`!why numbers` adds the numbers.")
    assert "belief" not in told
    for numbered in (await chat.command("why", "numbers"), await chat.command("why", "numbers", message_id=asked)):
        assert "(belief 0." in numbered
        assert "search for part 0: " in numbered
        assert "adds the numbers" not in numbered


async def test_of_an_older_answer_it_names_no_command_that_is_about_the_last_one() -> None:
    chat = Chat()
    older, last = await chat.ask("when is lunch?"), await chat.ask("when is dinner?")
    assert "adds the numbers" not in await chat.command("why", message_id=older)
    assert "adds the numbers" in await chat.command("why", message_id=last)


async def test_in_the_chat_why_has_the_sentence() -> None:
    chat = Chat()
    posted = await chat.ask("when is lunch?")
    await chat.react(posted, "👍")
    asked = await chat.ask("when is lunch then?")
    told = await chat.command("why")
    assert "**What people's verdicts say**\n- What people said of the most similar question speaks for" in told
    assert "approved for “when is lunch?”" in told
    told = await chat.command("why", by=BOB, message_id=asked)
    assert "speaks for an answer you cannot see here" in told
    assert "“when is lunch?”" not in told


async def test_in_the_chat_who_was_offered_a_proposal_is_told_whence_it_comes() -> None:
    chat = Chat()
    chat.oracle.answers["when is lunch?"] = "at noon"
    await chat.react(await chat.ask("when is lunch?"), "👍")
    chat.oracle.answers["when is lunch then?"] = call("ask_person", question="This?", options=[{"answer": "at noon"}])
    asked = await chat.ask("when is lunch then?", BOB)
    told = await chat.command("why", by=BOB, message_id=asked)
    assert "speaks for “at noon”" in told
    assert "approved for “when is lunch?”" in told
    assert "you cannot see here" in await chat.command("why", by=replace(BOB, person="cy"), message_id=asked)
