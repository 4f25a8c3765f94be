"""What a vote says of the best candidate, by what was done and where the vote comes from."""

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory.model import ASK, Episode, Reaction, Role, Vote
from memory.model.evidence import INITIAL_THRESHOLD, BeliefRecord, EvidenceRecord
from memory.rules.verdict import fold_votes, judgements_of, without_implied

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


def episode(action: str = "clock") -> Episode:
    return Episode(
        id="e1",
        run_id="r1",
        workspace="w",
        channel="c1",
        goal="what time is it?",
        person="ana",
        author="ana",
        action=action,
        created_at=NOW,
    )


def vote(value: int, actor: str = "ana", source: str = "emoji:👍", **more: object) -> Vote:
    given: dict[str, object] = {"role": Role.MEMBER, "at": NOW, **more}
    return Vote(workspace="w", run_id="r1", actor=actor, value=value, source=source, **given)  # type: ignore[arg-type]


def evidence(
    *, followed: bool, values: tuple[float, ...] = (0.4, 0.2), threshold: float = INITIAL_THRESHOLD
) -> EvidenceRecord:
    beliefs = tuple(BeliefRecord(action=f"a{n}", value=value, prior=0.0) for n, value in enumerate(values))
    return EvidenceRecord(beliefs=beliefs, is_followed=followed, threshold=threshold)


@pytest.mark.parametrize(
    ("action", "followed", "value", "source", "expected"),
    [
        ("clock", True, 1, "emoji:👍", [True]),
        ("clock", True, -1, "emoji:👎", [False]),
        ("clock", True, -1, "correction:l1", [False]),
        ("clock", True, 1, "tap", [True]),
        ("clock", False, 1, "tap", [False]),
        ("clock", False, -1, "tap", []),
        ("clock", False, 1, "emoji:👍", []),
        ("clock", False, -1, "emoji:👎", []),
        (ASK, False, -1, "emoji:👎", [False]),
        (ASK, False, -1, "tap", [False]),
        (ASK, False, 1, "emoji:👍", []),
    ],
)
def test_what_a_vote_says(action: str, *, followed: bool, value: int, source: str, expected: list[bool]) -> None:
    unsure = evidence(followed=followed, threshold=0.5)
    found = judgements_of(episode(action), unsure, [vote(value, source=source)], {})
    assert [each.is_right for each in found] == expected


@pytest.mark.parametrize(("action", "value", "source"), [(ASK, -1, "tap"), (ASK, -1, "emoji:👎"), ("clock", 1, "tap")])
def test_what_was_asked_although_the_evidence_was_sure_says_nothing(action: str, value: int, source: str) -> None:
    for followed in (True, False):
        assert judgements_of(episode(action), evidence(followed=followed), [vote(value, source=source)], {}) == []


def test_the_confidence_is_that_of_the_evidence_in_hundredths() -> None:
    for values, expected in (((0.4, 0.2), 24), ((1.7,), 100), ((0.1, 0.3), 0), ((0.29,), 19)):
        (found,) = judgements_of(episode(), evidence(followed=True, values=values), [vote(1)], {})
        assert found.confidence == expected
    assert judgements_of(episode(), EvidenceRecord(is_followed=True), [vote(1)], {}) == []


def test_a_voter_counts_for_others_who_weighs_something_within_the_limit() -> None:
    votes = [vote(1), vote(1, "bo"), vote(1, "cy"), vote(1, "di", is_limited=True), vote(1, "gus", role=Role.GUEST)]
    found = judgements_of(episode(), evidence(followed=True), votes, {"ana": 1.0, "bo": 0.0})
    assert [each.actor for each in found if each.is_checked] == ["ana", "bo", "di"]
    assert [(each.actor, each.is_known) for each in found] == [
        ("ana", True),
        ("bo", False),
        ("cy", True),
        ("di", False),
    ]
    random.Random(3).shuffle(votes)
    assert judgements_of(episode(), evidence(followed=True), votes, {"ana": 1.0, "bo": 0.0}) == found


@pytest.mark.parametrize(
    ("votes", "checked"),
    [
        ([vote(1), vote(-1, "bo")], ["ana"]),  # the asker alone stands behind it
        ([vote(1), vote(-1, "bo"), vote(1, "cy")], ["ana", "bo"]),
        ([vote(-1, "bo"), vote(1, "cy")], ["bo"]),
        ([vote(1, "bo"), vote(1, "cy")], ["bo", "cy"]),
        ([vote(-1, "bo"), vote(1, "cy", is_limited=True)], []),
        ([vote(-1, "bo"), vote(1, "new")], []),
        ([vote(-1, "bo"), vote(-1, "cy")], []),
    ],
)
def test_a_refusal_is_checked_by_somebody_else_who_did_not_ask(votes: list[Vote], checked: list[str]) -> None:
    found = judgements_of(episode(), evidence(followed=True), votes, {"new": 0.0})
    assert [each.actor for each in found if each.is_checked] == checked


def test_a_vote_on_the_node_replaces_that_on_the_answer() -> None:
    votes = [vote(1), vote(-1, node_id="e1"), vote(-1, "bo", node_id="e2")]
    (found,) = judgements_of(episode(), evidence(followed=True), votes, {})
    assert (found.actor, found.is_right) == ("ana", False)


def test_what_a_correction_implies_says_nothing_but_a_thumb_beside_it_does() -> None:
    def register(actor: str, source: str, value: int, minute: int) -> Reaction:
        at = NOW.replace(minute=minute)
        where = {"workspace": "w", "channel": "c1", "message_id": "m1", "run_id": "r1", "role": Role.MEMBER}
        return Reaction(actor=actor, source=source, value=value, at=at, **where)  # type: ignore[arg-type]

    reactions = [
        register("ana", "emoji:👎", -1, 1),
        register("ana", "correction:l1", -1, 2),
        register("bo", "correction:l2", -1, 3),
        register("cy", "emoji:👍", 1, 4),
    ]
    votes = [replace(each, is_limited=each.actor == "ana") for each in fold_votes(reactions)]
    left = without_implied(votes, reactions)
    assert [(each.actor, each.value, each.source, each.is_limited) for each in left] == [
        ("ana", -1, "emoji:👎", True),
        ("cy", 1, "emoji:👍", False),
    ]
    without = [each for each in reactions if not each.source.startswith("correction:")]
    assert [replace(each, is_limited=False) for each in left] == fold_votes(without)
