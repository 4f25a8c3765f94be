"""Which lessons for one question are void: all of them at once, as one by one."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, strategies as st

from memory.rules.evidence import judged_lesson
from memory.rules.evidence.judged_lesson import Candidate, JudgedLesson, refused_places, replaced_places
from memory.rules.evidence.voices import NoisyVerdict
from memory.rules.retrieval.consensus import ask_for_different_things

NOW = datetime(2026, 11, 21, tzinfo=UTC)
TEXTS = ("Rosa.", "rosa", "Ivan.", "Ask Rosa for the key.", "ask for the key, Rosa", "")
PEOPLE = ("ana", "ben", "cy")


def candidates(texts: list[str]) -> tuple[Candidate, ...]:
    return tuple(Candidate.of("answer" if text else "clock", text) for text in texts)


lessons = st.lists(
    st.builds(
        JudgedLesson,
        id=st.sampled_from("abc"),
        goal=st.sampled_from(["who is on call?", "who is on call on Monday?", "who is on call, please?"]),
        action=st.just("answer"),
        candidates=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2, unique=True).map(candidates),
        observation=st.booleans().map(lambda approves: NoisyVerdict(approves, 1.0)),
        decided_at=st.integers(0, 3).map(lambda hours: NOW + timedelta(hours=hours)),
        people=st.lists(st.sampled_from(PEOPLE), max_size=2, unique=True).map(tuple),
        is_own=st.booleans(),
        is_written=st.booleans(),
    ),
    max_size=8,
)


def replaces(new: JudgedLesson, old: JudgedLesson) -> bool:
    """The rule for two of one question."""
    is_one_voice = bool(old.author and old.author in new.people) or (new.is_own and old.is_own)
    is_later = (new.decided_at, new.id) > (old.decided_at, old.id)
    is_changed = is_one_voice and new.approves and is_later
    if new.approves and old.approves:
        is_meant = is_changed and not new.speaks_of_the_same_as(old)
    elif new.approves is old.approves:
        is_meant = False
    else:
        is_meant = (new.is_own and (is_later or not old.is_own)) or (is_changed and new.is_written)
        is_meant = is_meant and new.speaks_of_the_same_as(old)
    return is_meant and not ask_for_different_things(new.goal, old.goal)


@given(lessons, st.integers(0, 1000))
def test_it_is_what_each_does_to_each(judged: list[JudgedLesson], seed: int) -> None:
    judged = [lesson._replace(id=f"{lesson.id}{place}") for place, lesson in enumerate(judged)]
    near = np.random.default_rng(seed).random((len(judged), len(judged))) < 0.7
    alike = near | near.T | np.eye(len(judged), dtype=bool)
    expected = {
        old
        for old, lesson in enumerate(judged)
        for new, other in enumerate(judged)
        if new != old and alike[new, old] and replaces(other, lesson)
    }
    assert replaced_places(judged, alike) == expected


@pytest.mark.parametrize("is_written", [True, False])
@pytest.mark.parametrize("approves", [True, False])
def test_the_asker_s_own_last_word_on_an_answer_counts(approves: bool, is_written: bool) -> None:
    first, last = one_person_who_changes_their_mind(2)
    first = first._replace(observation=NoisyVerdict(not approves, 1.0), is_own=True, is_written=is_written)
    last = last._replace(observation=NoisyVerdict(approves, 1.0), candidates=first.candidates, is_own=True)
    assert replaced_places([first, last], np.ones((2, 2), np.bool_)) == {0}
    assert replaced_places([last, first], np.ones((2, 2), np.bool_)) == {1}
    others = [each._replace(is_own=False) for each in (first, last)]
    assert replaced_places(others, np.ones((2, 2), np.bool_)) == set()


def test_what_the_asker_refused_for_the_asked_question_is_void_wherever_it_was_approved_before() -> None:
    earlier, refusal, later = one_person_who_changes_their_mind(3)
    refusal = refusal._replace(observation=NoisyVerdict(False, 1.0), is_own=True)
    goal, refused = "who has the duty phone?", refusal.candidates
    mine = earlier._replace(goal=goal, candidates=refused, is_own=True)
    others = later._replace(goal=goal, candidates=refused, people=("ben",))
    assert refused_places([mine, refusal, others], [1]) == {0, 2}
    assert refused_places([mine, refusal, others._replace(is_own=True)], [1]) == {0}
    assert refused_places([earlier, refusal, later], [1]) == set()  # other answers
    assert refused_places([mine, refusal, others], [0]) == set()  # refused for another question
    assert refused_places([mine, refusal._replace(is_own=False), others], [1]) == set()


def one_person_who_changes_their_mind(times: int) -> list[JudgedLesson]:
    return [
        JudgedLesson(
            id=f"{number:02}",
            goal="who has the key?",
            action="answer",
            candidates=candidates([("Rosa.", "Ivan.")[number % 2]]),
            observation=NoisyVerdict(True, 1.0),
            people=("ana",),
            decided_at=NOW + timedelta(minutes=number),
        )
        for number in range(times)
    ]


def test_what_is_approved_again_and_again_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    compare = JudgedLesson.speaks_of_the_same_as

    def counted(one: JudgedLesson, other: JudgedLesson) -> bool:
        compared.append(one.id)
        return compare(one, other)

    monkeypatch.setattr(JudgedLesson, "speaks_of_the_same_as", counted)
    judged = one_person_who_changes_their_mind(48)
    assert replaced_places(judged, np.ones((48, 48), np.bool_)) == set(range(47))
    assert len(compared) <= 4


def test_what_is_asked_again_and_again_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def counted(one: str, other: str) -> bool:
        compared.append(one)
        return ask_for_different_things(one, other)

    monkeypatch.setattr(judged_lesson, "ask_for_different_things", counted)
    assert replaced_places(one_person_who_changes_their_mind(48), np.ones((48, 48), np.bool_)) == set(range(47))
    assert len(compared) == 1
