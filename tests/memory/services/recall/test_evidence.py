"""Evidence through the store: whose lessons count, how much, and whose never."""

from dataclasses import replace

import pytest

from memory.model import ASK, GAVE_UP, Episode, Option, Role, Scope, Termination, Visibility
from memory.model.delivery import asked_step
from memory.model.evidence import ActionText, Belief, BeliefRecord, Evidence, LessonWeight, WeightRecord
from memory.rules.retrieval.config import RetrievalConfig
from memory.services import FinishedRun
from tests.doubles.memory_world import World, scope

ACTIONS = (
    ActionText(name="pay_bill", description="Pays a bill."),
    ActionText(name="play_music", description="Plays a song."),
)
GOAL = "please settle what I owe for the electricity"


@pytest.fixture
def world() -> World:
    return World()


def weigh(world: World, goal: str = GOAL, of: Scope | None = None) -> Evidence:
    return world.memory.recalling.weighing.weigh(of or scope(), goal, ACTIONS)


def belief(evidence: Evidence, action: str, text: str = "") -> Belief | None:
    return next((each for each in evidence.beliefs if (each.action, each.text) == (action, text)), None)


def value(evidence: Evidence, action: str = "answer", text: str = "") -> float:
    found = belief(evidence, action, text)
    return found.value if found else 0.0


def taught(world: World, goal: str = GOAL, answer: str = "At the desk.", of: Scope | None = None) -> Episode:
    episode = world.ask(goal, answer, of=of)
    world.react(episode, "👍", by=(of or scope()).person)
    return episode


def test_refused_runs_that_found_no_answer_take_no_places_from_lessons(world: World) -> None:
    approved = taught(world, "the electricity, please settle it soon")
    before = value(weigh(world), text="At the desk.")
    for _ in range(world.memory.recalling.weighing.config.lessons):
        refused = world.ask(GOAL, "I don't know that.", action=GAVE_UP, termination=Termination.FAILURE)
        world.react(refused, "👎", by="ana")
    evidence = weigh(world)
    assert evidence.lessons == 1
    assert value(evidence, text="At the desk.") == pytest.approx(before)
    assert before > 0
    assert set(world.recalled(GOAL)) - {approved.id}  # the seeds' retriever warns of one


def test_without_lessons_there_is_what_the_actions_say_of_themselves(world: World) -> None:
    evidence = weigh(world, "pays a bill")
    assert evidence.beliefs[0].action == "pay_bill"
    assert evidence.beliefs[0].value == pytest.approx(evidence.beliefs[0].prior)
    assert (evidence.nearest, evidence.lessons) == (0.0, 0)


def test_an_approved_answer_is_believed_and_names_the_lesson(world: World) -> None:
    episode = taught(world)
    found = belief(weigh(world), "answer", "At the desk.")
    assert found is not None
    assert found.value == pytest.approx(0.5, abs=0.01)  # one verdict of a member
    (weight,) = found.weights
    assert (weight.episode_id, weight.goal, weight.approves) == (episode.id, GOAL, True)
    assert weight.effect == pytest.approx(found.value)


def test_taking_the_reaction_back_restores_the_numbers(world: World) -> None:
    taught(world, "where is the canteen?", "Downstairs.")
    before = weigh(world)
    episode = taught(world)
    assert weigh(world) != before
    world.react(episode, "👍", added=False)
    assert weigh(world) == before


def test_a_lesson_from_out_of_reach_changes_nothing(world: World) -> None:
    taught(world)
    before = weigh(world)
    for elsewhere in (
        scope("eve", workspace="terminal:other"),
        scope("ana", workspace="terminal:other"),
        scope("eve", channel="c2"),
        scope("eve", channel="d1", visibility=Visibility.DIRECT),
        scope("eve", channel="p1", visibility=Visibility.PRIVATE),
    ):
        taught(world, GOAL, "In my pocket.", of=elsewhere)
    assert weigh(world) == before


def test_agreement_of_others_raises_a_belief(world: World) -> None:
    episode = taught(world)
    alone = value(weigh(world), text="At the desk.")
    for person in ("bo", "cy", "di"):
        world.react(episode, "👍", by=person)
    assert value(weigh(world), text="At the desk.") > alone


def test_the_agreement_of_somebody_who_was_often_wrong_does_not_lower_a_belief(world: World) -> None:
    for person, emoji in (("ana", "👎"), ("eve", "👎"), ("eve", "👍")):
        proven = world.ask("where is the spare key?", "Under the pot.", of=scope("cy"))
        world.react(proven, emoji, by=person)
        world.react(proven, "👍", by="adm", role=Role.ADMIN)
    episode = taught(world)
    alone = value(weigh(world), text="At the desk.")
    world.react(episode, "👍", by="eve")
    assert value(weigh(world), text="At the desk.") >= alone


def test_what_others_refuse_and_take_back_makes_no_older_approval_the_latest(world: World) -> None:
    older = taught(world, answer="At the desk.")
    taught(world, answer="In the app.")
    before = weigh(world)
    world.react(older, "👎", by="eve")
    world.react(older, "👎", by="eve", added=False)
    assert weigh(world) == before
    world.react(older, "👍", by="eve")
    assert value(weigh(world), text="In the app.") > 0


def shown(world: World, goal: str = GOAL, of: Scope | None = None, final_k: int = 4) -> list[tuple[str, str]]:
    """What a prompt in the chat is given: lesson and answer."""
    config = RetrievalConfig(min_intent=0.999, final_k=final_k, max_per_author=1, consensus=True)
    recalled = world.memory.recalling.recall(of or scope(), goal, actions=ACTIONS, config=config)
    return [(each.lesson.value, each.episode.output) for each in recalled.exemplars]


def test_the_chat_is_shown_the_lessons_that_say_most_though_the_gate_is_higher(world: World) -> None:
    taught(world)
    assert shown(world, f"{GOAL} please") == [("REPEAT", "At the desk.")]
    assert shown(world, "what is for lunch?") == []
    assert shown(world, f"{GOAL} please", final_k=0) == []


def test_each_answer_is_shown_once_and_one_of_both_kinds(world: World) -> None:
    for number, answer in enumerate(("At the desk.", "At the desk!", "In the app.", "By letter.")):
        taught(world, f"{GOAL} {number}", answer)
    world.react(world.ask(f"{GOAL} or not", "Ask your neighbour."), "👎")
    assert len(shown(world)) == 4
    assert [each for each in shown(world) if each[0] == "AVOID"] == [("AVOID", "Ask your neighbour.")]
    assert len({answer.rstrip(".!") for _, answer in shown(world)}) == 4
    assert {kind for kind, _ in shown(world, final_k=2)} == {"REPEAT", "AVOID"}


def test_two_who_speak_against_a_teachers_answer_do_not_make_it_wrong_in_anybodys_prompt(world: World) -> None:
    right = world.ask(GOAL, "At the desk.", of=scope("bo"))
    world.react(right, "👍", by="tina", role=Role.TEACHER)
    spoilt = world.ask(f"{GOAL} now", "At the desk.", of=scope("eve"))
    world.react(spoilt, "👎", by="eve")
    world.react(spoilt, "👎", by="mal")
    for person in ("ana", "bo"):
        assert shown(world, of=scope(person)) == [("REPEAT", "At the desk.")]
    assert ("AVOID", "At the desk.") not in shown(world, f"{GOAL} now")


def test_a_correction_that_the_others_speak_against_is_not_named_as_right(world: World) -> None:
    wrong = world.ask(GOAL, "In the cellar.")
    lesson = world.correct(wrong, "In my pocket.", by="bo", role=Role.TEACHER)
    assert shown(world) == [("REPEAT", "In my pocket."), ("AVOID", "In the cellar.")]
    for number in range(3):
        other = world.ask(GOAL, "In my pocket.", of=scope(f"p{number}"))
        world.react(other, "👎", by=f"tim{number}", role=Role.TEACHER)
    recalled = world.memory.recalling.recall(scope(), GOAL, actions=ACTIONS)
    assert lesson.id not in {each.episode.id for each in recalled.exemplars}
    assert {each.episode.correction for each in recalled.exemplars} == {""}


def test_a_correction_that_names_an_action_is_shown_as_the_action(world: World) -> None:
    world.correct(world.ask(GOAL, "I don't know."), "use the pay bill tool")
    found = world.memory.recalling.recall(scope(), GOAL, actions=ACTIONS).exemplars
    assert [each.named_action for each in found if each.episode.output.startswith("use")] == ["pay_bill"]


def test_whoever_names_no_actions_is_given_what_the_pipeline_chooses(world: World) -> None:
    taught(world)
    recall, gated = world.memory.recalling.recall, RetrievalConfig(min_intent=0.999)
    assert recall(scope(), f"{GOAL} please", config=gated).exemplars == ()
    assert [each.belief for each in recall(scope(), GOAL, config=gated).exemplars] == [None]


def test_for_oneself_one_decides_alone(world: World) -> None:
    first = world.ask(GOAL, "At the desk.", of=scope("bo"))
    world.react(first, "👍", by="tina", role=Role.TEACHER)
    own = world.ask(GOAL, "At the desk.")
    assert value(weigh(world), text="At the desk.") > 0.5
    world.react(own, "👎")
    assert value(weigh(world), text="At the desk.") < 0
    assert value(weigh(world, of=scope("cy")), text="At the desk.") > 0.5


def test_a_teachers_verdict_is_worth_more_than_a_members(world: World) -> None:
    taught(world)
    member = value(weigh(world), text="At the desk.")
    other = World()
    episode = other.ask(GOAL, "At the desk.")
    other.react(episode, "👍", by="tina", role=Role.TEACHER)
    assert value(weigh(other), text="At the desk.") > member


def test_a_correction_that_names_an_action_is_evidence_for_the_action(world: World) -> None:
    episode = world.ask(GOAL, "I don't know.")
    before = value(weigh(world), "pay_bill")
    world.correct(episode, "use the pay bill tool")
    evidence = weigh(world)
    assert value(evidence, "pay_bill") > before + 0.3
    assert belief(evidence, "answer", "use the pay bill tool") is None


def test_a_later_answer_to_the_same_question_replaces_the_earlier_one_of_the_same_person(world: World) -> None:
    taught(world, GOAL, "At the desk.")
    taught(world, GOAL, "In the app.")
    evidence = weigh(world)
    assert value(evidence, text="In the app.") == pytest.approx(0.5, abs=0.01)
    assert value(evidence, text="At the desk.") <= 0


@pytest.mark.parametrize("role", [Role.MEMBER, Role.TEACHER])
def test_what_was_taught_first_is_known_again_once_it_is_taught_again(world: World, role: Role) -> None:
    answer = world.ask(GOAL, "I don't know.", termination=Termination.FAILURE)
    for text in ("At the desk.", "In the app.", "At the desk.", "In the app.", "At the desk."):
        world.correct(answer, text, role=role)
        evidence = weigh(world)
        assert (evidence.beliefs[0].text, evidence.is_sure) == (text, True)
        answer = world.ask(GOAL, text)


def test_what_is_kept_says_the_same_in_few_numbers(world: World) -> None:
    taught(world)
    taught(world, "where is the canteen?", "Downstairs.")
    evidence = weigh(world)
    kept = evidence.record
    assert kept.confidence == pytest.approx(evidence.confidence, abs=0.005)
    assert kept.lessons == 2
    assert kept.nearest == pytest.approx(evidence.nearest, abs=1e-4)
    whole = {each.value for each in evidence.beliefs}
    for each in kept.beliefs:
        assert any(each.value == pytest.approx(value, abs=1e-4) for value in whole)
        assert each.taught == pytest.approx(sum(weight.effect for weight in each.weights), abs=0.02)


@pytest.mark.parametrize(
    ("beliefs", "nearest", "threshold", "is_sure"),
    [
        ((), 1.0, 0.05, False),
        ((0.2,), 1.0, 0.2, True),
        ((0.2,), 1.0, 0.21, False),
        ((0.3, 0.2), 1.0, 0.13, True),
        ((0.3, 0.2), 1.0, 0.15, False),
        ((0.45, 0.44), 1.0, 0.05, False),
        ((0.45, -0.44), 1.0, 0.45, True),
        # What nobody has taught yet is the rival where nothing like the goal is known.
        ((0.3,), 0.5, 0.2, True),
        ((0.3,), 0.5, 0.21, False),
        ((0.3,), 0.9, 0.21, True),
        ((0.3, 0.2), 0.5, 0.13, True),
    ],
)
def test_it_is_sure_from_the_threshold_on_unless_two_tie(
    beliefs: tuple[float, ...], nearest: float, threshold: float, is_sure: bool
) -> None:
    found = tuple(Belief(action=f"a{n}", value=value, prior=0.0) for n, value in enumerate(beliefs))
    evidence = Evidence(beliefs=found, nearest=nearest, threshold=threshold)
    assert evidence.is_sure is is_sure
    assert evidence.record.threshold == threshold


def test_what_nobody_would_see_is_not_kept() -> None:
    faint = LessonWeight(episode_id="e1", goal="", author="ana", approves=True, weight=0.5, effect=-0.0049)
    strong = faint._replace(effect=0.123456)
    evidence = Evidence(
        beliefs=(
            Belief(action="clock", value=0.123456, prior=0.001, weights=(strong, faint)),
            Belief(action="search", value=0.0, prior=0.3),
            Belief(action="notes", value=0.0049, prior=0.0),
        )
    )
    assert evidence.record.beliefs == (
        BeliefRecord(
            action="clock",
            value=0.1235,
            prior=0.001,
            weights=(WeightRecord(episode_id="e1", weight=0.5, effect=0.1235, approves=True),),
        ),
        BeliefRecord(action="search", value=0.0, prior=0.3),
    )


def test_what_an_action_was_approved_for_moves_what_is_expected_of_it(world: World) -> None:
    def prior(goal: str, of: Scope | None = None) -> float:
        found = belief(weigh(world, goal, of), "pay_bill")
        return found.prior if found else 0.0

    goals = ("the invoice of the plumber", "what is for lunch?")
    before = [prior(goal) for goal in goals]
    for number in range(3):
        world.correct(world.ask(f"the invoice of the plumber number {number}", "Hm."), "use the pay bill tool")
    assert prior(goals[0]) > before[0]
    assert prior(goals[1]) < before[1]
    assert [prior(goal, scope("eve", channel="c2")) for goal in goals] == before


def test_what_the_asker_wrote_down_is_worth_more_than_their_thumb(world: World) -> None:
    taught(world)
    thumb = value(weigh(world), text="At the desk.")
    other = World()
    other.correct(other.ask(GOAL, "Hm."), "At the desk.")
    assert value(weigh(other), text="At the desk.") > thumb + 0.1


def test_who_likes_a_question_takes_nothing_from_who_wanted_none_of_what_it_offered(world: World) -> None:
    world.react(world.ask(GOAL, "At the desk."), "👍")
    other = world.ask("what is the wifi password?", of=scope("cy"))
    trajectory = (asked_step("This?", [Option(action="answer", label="At the desk.", text="At the desk.")]),)
    root = replace(other, id="q", run_id="run", action=ASK, goal=GOAL, trajectory=trajectory, output="This?")
    recall = replace(world.memory.recalling.recall(scope("cy"), GOAL, run_id="run", actions=()), node_path="0")
    run = FinishedRun(
        workspace=root.workspace,
        run_id="run",
        event_id="",
        nodes=[root],
        recalls=[recall],
        parts=["This?"],
        channel="c1",
        embedding_model=world.memory.embedder.name,
    )
    world.memory.recording.finish(run)
    world.memory.recording.sent(root.workspace, "run", 1, "m-run")
    before = value(weigh(world, of=scope("vic")), text="At the desk.")
    world.react(root, "👎", by="bob")
    refused = value(weigh(world, of=scope("vic")), text="At the desk.")
    assert refused < before
    world.react(root, "👍", by="dan")
    assert value(weigh(world, of=scope("vic")), text="At the desk.") == refused
