"""From judged lessons to beliefs: which lessons count, and which beliefs are handed out."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from memory.model import ASK, Episode
from memory.model.evidence import INITIAL_THRESHOLD, ActionText, Belief, Evidence
from memory.ports import ActionFit
from memory.rules.evidence import weighing
from memory.rules.evidence.judged_lesson import Candidate, JudgedLesson, noise_of
from memory.rules.evidence.posterior import EvidenceConfig
from memory.rules.evidence.voices import NoisyVerdict, Voice
from memory.rules.evidence.weighing import BELIEFS, is_followed, weigh

GOAL = np.array([1.0, 0.0, 0.0])
TOOL = ActionText(name="clock", description="Tells the time.")
NOW = datetime(2026, 11, 21, tzinfo=UTC)


ANA = ("ana",)


def lesson(
    goal: str,
    text: str,
    *,
    number: int = 0,
    approves: bool = True,
    action: str = "answer",
    people: tuple[str, ...] = ANA,
) -> JudgedLesson:
    """One of ana's, about the very goal."""
    return JudgedLesson(
        id=f"{number}",
        goal=goal,
        action=action,
        candidates=(Candidate.of(action, text),),
        observation=NoisyVerdict(approves, noise_of(EvidenceConfig(), is_trusted=True)),
        people=people,
        decided_at=NOW + timedelta(seconds=number),
    )


def weighed(*lessons: JudgedLesson) -> Evidence:
    return weigh(GOAL, lessons, [GOAL] * len(lessons), [TOOL], np.array([[0.9, 0.1, 0.0]]), EvidenceConfig())


def answers(evidence: Evidence) -> dict[str, bool]:
    return {belief.text: belief.value > 0.1 for belief in evidence.beliefs if belief.text}


def test_of_one_question_the_latest_answer_of_the_same_author_counts() -> None:
    question = "who is on call?"
    assert answers(weighed(lesson(question, "Rosa."), lesson(question, "Ivan.", number=1))) == {"Ivan.": True}


def test_the_latest_answer_counts_too_beside_goals_without_a_word() -> None:
    """Their embeddings have no length, so they are not even like themselves."""
    lessons = [lesson("who is on call?", text, number=n) for n, text in enumerate(("Rosa.", "Ivan."))]
    nothing = [lesson("", text, number=n, people=()) for n, text in enumerate(("Berta.", "Conrad."), 2)]
    vectors = [np.array([0.6, 0.8, 0.0])] * 2 + [np.zeros(3)] * 2
    evidence = weigh(GOAL, [*lessons, *nothing], vectors, [], np.zeros((0, 3)), EvidenceConfig())
    assert {belief.text for belief in evidence.beliefs} == {"Ivan.", "Berta.", "Conrad."}


def test_answers_that_differ_in_a_word_are_not_compared_each_with_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of those that name no number have all in common that `exact_part` tells."""
    compared: list[str] = []
    compare = Candidate.says_the_same_as

    def counted(one: Candidate, other: Candidate) -> bool:
        compared.append(one.text)
        return compare(one, other)

    monkeypatch.setattr(Candidate, "says_the_same_as", counted)
    texts = [
        f"Ask {name} for the key."
        for name in ("Rosa", "Ivan", "Berta", "Conrad", "Dietrich", "Emilia", "Gustav", "Hanna")
    ]
    texts += ["ask Ivan for a key", "Ask Ivan for the key!", "Ask Rosa for the key.", "Ask for the key."]
    vectors = [np.array([0.6, 0.8 * np.cos(n / 2), 0.8 * np.sin(n / 2)]) for n in range(len(texts))]
    lessons = [lesson(f"question {n}", text, number=n) for n, text in enumerate(texts)]
    evidence = weigh(GOAL, lessons, vectors, [], np.zeros((0, 3)), EvidenceConfig())
    assert compared == ["ask Ivan for a key", "Ask Ivan for the key!"]
    rest_on = [[each.episode_id for each in belief.weights] for belief in evidence.beliefs if "Ivan" in belief.text]
    assert sorted(map(sorted, rest_on)) == [["1", "9"], ["8"]]


def test_of_what_several_approved_one_of_them_makes_nothing_void() -> None:
    question, both = "who is on call?", (*ANA, "ben")
    approved = lesson(question, "Rosa.", people=both)
    assert answers(weighed(approved, lesson(question, "Ivan.", number=1))) == {"Rosa.": True, "Ivan.": True}
    assert answers(weighed(lesson(question, "Rosa."), lesson(question, "Ivan.", number=1, people=both))) == {
        "Ivan.": True
    }
    nobodys = [lesson(question, text, number=n, people=()) for n, text in enumerate(("Rosa.", "Ivan."))]
    assert answers(weighed(*nobodys)) == {"Rosa.": True, "Ivan.": True}


def test_whoever_writes_down_what_they_refused_before_thinks_otherwise_now() -> None:
    question = "who is on call?"
    refused, written = lesson(question, "Rosa.", approves=False, number=1), lesson(question, "rosa", number=2)
    written = written._replace(is_written=True)
    alone = answers(weighed(written))
    assert weighed(refused, written).beliefs == weighed(written).beliefs
    assert alone == {"rosa": True}
    for other in (
        refused._replace(people=("ben",)),
        refused._replace(people=(*ANA, "ben")),
        refused._replace(decided_at=NOW + timedelta(seconds=3)),
        refused._replace(goal="who is on call on Monday?"),
    ):
        assert weighed(other, written).beliefs != weighed(written).beliefs


def test_questions_that_only_look_alike_keep_their_answers_each() -> None:
    monday = lesson("who is on call on Monday?", "Rosa.")
    tuesday = lesson("who is on call on Tuesday?", "Ivan.", number=1)
    assert answers(weighed(monday, tuesday)) == {"Rosa.": True, "Ivan.": True}


def test_what_was_refused_is_handed_out_behind_however_many_answers() -> None:
    refused = lesson("what time is it?", "", approves=False, action="clock")
    many = [lesson(f"question {n}", f"answer number {n}", number=n + 1) for n in range(2 * BELIEFS)]
    evidence = weighed(refused, *many)
    assert evidence.beliefs[-1].action == "clock"
    assert evidence.beliefs[-1].value < evidence.beliefs[-1].prior - 0.1
    assert len(evidence.beliefs) == BELIEFS + 1


def test_what_is_suggested_most_is_handed_out_behind_however_many_of_ones_own() -> None:
    goal, *others = np.eye(BELIEFS + 2, dtype=np.float32)
    own = [lesson(f"question {n}", f"answer number {n}", number=n) for n in range(BELIEFS + 1)]
    of_ben = lesson("one more", "What ben said.", number=99, people=("ben",))
    of_ben = of_ben._replace(observation=NoisyVerdict(True, 1.0, (Voice("ben"),)))
    vectors = [np.float32(0.6) * goal + np.float32(0.8) * other for other in others]
    evidence = weigh(goal, [*own, of_ben], [*vectors, goal], [], np.zeros((0, len(goal))), EvidenceConfig())
    last = evidence.beliefs[-1]
    assert (last.text, len(evidence.beliefs)) == ("What ben said.", BELIEFS + 1)
    assert last.suggested > 2 * last.value > 0
    assert all(each.value >= last.value for each in evidence.beliefs)


def test_what_is_decided_needs_no_beliefs_and_these_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    make = weighing._beliefs

    def counted(*given: Any) -> tuple[Belief, ...]:
        made.append(1)
        return make(*given)

    monkeypatch.setattr(weighing, "_beliefs", counted)
    evidence = weighed(lesson("who?", "Rosa."), lesson("who is it?", "Ivan.", number=1, people=("ben",)))
    best, decided = evidence.best, (evidence.is_sure, evidence.confidence, len(evidence.influential))
    assert not made
    first = evidence.beliefs[0]
    assert best == first._replace(suggested=0.0, weights=())
    assert decided == (evidence.is_sure, evidence.confidence, len(evidence.influential))
    read = replace(evidence, beliefs=evidence.beliefs[:])
    assert evidence == read
    assert read == evidence
    assert (evidence.is_sure, evidence.confidence) == (read.is_sure, read.confidence)
    assert hash(evidence) == hash(read)
    assert repr(evidence) == repr(read)
    assert made == [1]


def test_a_refusal_of_the_best_may_be_shown_where_that_does_not_reach_the_threshold_of_the_workspace() -> None:
    refused, beside = lesson("how late is it?", "", approves=False, action="clock"), np.array([0.5, 0.866, 0.0])

    def weighed(threshold: float) -> Evidence:
        descriptions = np.array([[0.9, 0.1, 0.0]])
        return weigh(GOAL, [refused], [beside], [TOOL], descriptions, EvidenceConfig(), threshold=threshold)

    confidence = weighed(0.9).confidence
    assert confidence > INITIAL_THRESHOLD
    assert weighed(confidence + 0.001).influential
    assert not weighed(confidence - 0.001).influential


def prior(*, lessons: float = 0.0, cosine: float = 0.0) -> float:
    fits = {"clock": ActionFit(lessons=lessons, cosine=cosine)}
    found = weigh(GOAL, [], [], [TOOL], np.array([[0.5, 0.1, 0.0]]), EvidenceConfig(), fits)
    return found.beliefs[0].prior


def test_an_action_is_believed_in_where_goals_like_this_one_were_its_own() -> None:
    assert prior(lessons=3, cosine=0.9) > prior(lessons=1, cosine=0.9) > prior()
    assert prior(lessons=3, cosine=0.1) < prior(lessons=1, cosine=0.1) < prior()


def test_what_nobody_decided_is_in_no_prior() -> None:
    """Of no worth as a verdict, it changes nothing."""
    decided = lesson("what is the hour?", "", action="clock")
    proposed = lesson("how late is it?", "", number=1, action="clock")
    proposed = proposed._replace(observation=NoisyVerdict(True, 1e12, (Voice("ben"),)), is_counted=False)
    vectors, fits = [np.array([0.2, 0.0, 0.9798]), GOAL], {"clock": ActionFit(lessons=6.0, cosine=0.2)}

    def belief(*lessons: JudgedLesson) -> float:
        descriptions, near = np.array([[0.5, 0.1, 0.0]]), vectors[: len(lessons)]
        return weigh(GOAL, lessons, near, [TOOL], descriptions, EvidenceConfig(), fits).beliefs[0].value

    assert belief(decided, proposed) == pytest.approx(belief(decided))


def test_goals_that_fit_like_the_description_change_nothing() -> None:
    assert prior(lessons=7, cosine=0.5 + EvidenceConfig().goals_alike) == pytest.approx(prior())


@pytest.mark.parametrize(
    ("best", "action", "output", "expected"),
    [
        (Belief(action="clock", value=1, prior=0), "clock", "09:00", True),
        (Belief(action="clock", value=1, prior=0), "answer", "09:00", False),
        (Belief(action="answer", text="At the desk.", value=1, prior=0), "answer", "at the desk", True),
        (Belief(action="answer", text="At the desk.", value=1, prior=0), "answer", "In the app.", False),
        (Belief(action="answer", text="At the desk.", value=1, prior=0), ASK, "At the desk.", False),
    ],
)
def test_the_best_is_followed_by_doing_or_saying_it(best: Belief, action: str, output: str, *, expected: bool) -> None:
    second = Belief(action="notes", value=0.5, prior=0)
    node = Episode(id="e1", workspace="w", goal="when?", action=action, output=output, created_at=NOW)
    assert is_followed(Evidence(beliefs=(best, second)), node) is expected
    assert not is_followed(Evidence(), node)
