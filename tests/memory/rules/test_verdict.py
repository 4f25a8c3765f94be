"""The verdict as a table: who must say what for each audience to believe it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from memory.model import (
    Audience,
    Episode,
    EpisodeStatus,
    Reaction,
    Role,
    Standing,
    TeachingPolicy,
    Termination,
    Verdict,
    Verdicts,
    Vote,
    derive_status,
)
from memory.rules.verdict import ballots, fold_votes, judge
from tests.doubles.memory_world import START

LETTER = {"p": Verdict.PENDING, "s": Verdict.SUCCESS, "f": Verdict.FAILURE, "d": Verdict.DISPUTED}
ROOT = Episode(id="root", run_id="r", goal="a goal", person="ana", workspace="w", channel="c")


def cast(text: str) -> list[Vote]:
    """Votes from `ana+ tea:teacher- bob@node+`, one minute apart."""
    votes = []
    for minute, word in enumerate(text.split()):
        who, _, role = word[:-1].partition(":")
        actor, _, node = who.partition("@")
        votes.append(
            Vote(
                workspace="w",
                run_id="r",
                actor=actor,
                role=Role(role or "member"),
                value=1 if word[-1] == "+" else -1,
                at=START + timedelta(minutes=minute),
                node_id=node,
            )
        )
    return votes


def verdicts(letters: str) -> Verdicts:
    personal, channel, workspace = (LETTER[letter] for letter in letters.split())
    return Verdicts(personal=personal, channel=channel, workspace=workspace)


def decided(found: Verdicts) -> Verdicts:
    """What was decided, without what was only proposed."""
    return replace(found, proposed=Verdict.PENDING)


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ("", "p p p"),
        # the asker alone decides for the asker, and is no part of the quorum
        ("ana+", "s p p"),
        ("ana-", "f p p"),
        ("ana+ bob+", "s p p"),
        ("ana- bob-", "f p p"),
        ("ana+ bob+ cy+", "s s p"),
        ("ana- bob- cy-", "f f p"),
        # others: two of one mind and nobody against
        ("bob+", "p p p"),
        ("bob-", "p p p"),
        ("bob+ cy+", "p s p"),
        ("bob- cy-", "p f p"),
        # mixed votes are disputed, the asker's included
        ("bob+ cy-", "p d p"),
        ("bob+ cy- dan-", "p d p"),
        ("ana+ bob- cy-", "s d p"),
        # but one against several who approve unmakes nothing, the asker included; as many on both sides do
        ("bob+ cy+ dan-", "p s p"),
        ("ana- bob+ cy+", "f s p"),
        ("bob+ cy+ dan- eve-", "p d p"),
        ("bob+ cy+ dan+ eve- fay-", "p s p"),
        # a teacher decides for the channel, over any number of members
        ("tea:teacher+", "p s p"),
        ("tea:teacher-", "p f p"),
        ("bob- cy- dan- tea:teacher+", "p s p"),
        ("bob+ cy+ dan+ tea:teacher-", "p f p"),
        ("ana- tea:teacher+", "f s p"),
        ("ana:teacher+", "s s p"),
        # teachers who disagree
        ("tea:teacher+ tim:teacher+", "p s p"),
        ("tea:teacher+ tim:teacher-", "p d p"),
        ("tea:teacher+ tim:teacher- bob+ cy+ dan+", "p d p"),
        # an administrator's decree holds over all, for everybody; the later of two
        ("adm:admin+", "s s p"),
        ("ana- bob- tea:teacher- adm:admin+", "s s p"),
        ("adm:admin- ana+ tea:teacher+", "f f p"),
        ("adm:admin+ boss:admin-", "f f p"),
        # guests and bots are seen, never counted
        ("gus:guest+ guy:guest+ bob+", "p p p"),
        ("gus:guest- bob+ cy+", "p s p"),
        ("ana:guest+", "p p p"),
        ("bot:bot- bob+ cy+", "p s p"),
    ],
)
def test_votes_on_an_answer(votes: str, expected: str) -> None:
    assert decided(judge(ROOT, cast(votes), TeachingPolicy())) == verdicts(expected)


@pytest.mark.parametrize(
    ("votes", "proposed"),
    [
        ("", "p"),
        ("ana+", "s"),
        ("bob-", "f"),
        ("ana+ bob-", "d"),
        # what is decided is proposed no more
        ("bob+ cy+", "p"),
        ("tea:teacher+", "p"),
        ("adm:admin-", "p"),
        # teachers who disagree decide nothing
        ("tea:teacher+ tim:teacher-", "d"),
        ("gus:guest+", "p"),
    ],
)
def test_what_people_propose_who_do_not_decide(votes: str, proposed: str) -> None:
    assert judge(ROOT, cast(votes), TeachingPolicy()).proposed is LETTER[proposed]


@pytest.mark.parametrize(
    ("standing", "weights", "expected"),
    [
        (Standing.DECIDES, {}, "s p"),
        (Standing.PROPOSES, {}, "p s"),
        (Standing.NEWCOMER, {"bob": 0.0, "cy": 0.0}, "p p"),
        # who is trusted most decides with somebody else like them, also where there is a teacher
        (Standing.PROPOSES, {"bob": 2.0}, "p s"),
        (Standing.PROPOSES, {"bob": 2.0, "cy": 2.0}, "s p"),
    ],
)
def test_what_votes_may_do_by_who_was_known_when_they_were_cast(
    standing: Standing, weights: dict[str, float], expected: str
) -> None:
    found = judge(ROOT, [replace(vote, standing=standing) for vote in cast("bob+ cy+")], TeachingPolicy(), weights)
    assert (found.channel, found.proposed) == tuple(LETTER[letter] for letter in expected.split())


@pytest.mark.parametrize(
    ("promoted", "votes", "expected"),
    [
        ("channel", "", "p p p"),
        ("channel", "ana+", "s s p"),
        ("channel", "ana-", "f f p"),
        ("channel", "bob+", "p p p"),
        ("channel", "ana- bob+ cy+", "f s p"),
        ("workspace", "", "p p p"),
        ("workspace", "ana+", "s s s"),
        ("workspace", "ana-", "f f f"),
        ("workspace", "bob+ cy+", "p s s"),
        ("workspace", "bob+ cy-", "p d p"),
        ("workspace", "tea:teacher+ tim:teacher-", "p d p"),
        ("workspace", "ana+ tea:teacher-", "s f f"),
        ("workspace", "ana+ adm:admin-", "f f f"),
    ],
)
def test_promotion_carries_a_verdict_further_and_makes_none(promoted: str, votes: str, expected: str) -> None:
    root = Episode(id="root", goal="a goal", person="ana", promoted=Audience(promoted))
    assert decided(judge(root, cast(votes), TeachingPolicy())) == verdicts(expected)


@pytest.mark.parametrize(
    ("votes", "root", "worked", "failed"),
    [
        ("tea:teacher+", "s", "s", "s"),
        ("tea:teacher-", "f", "p", "f"),
        # a grade of one node replaces the same person's word on the answer, on that node alone
        ("tea:teacher+ tea@worked:teacher-", "s", "f", "s"),
        ("tea:teacher- tea@worked:teacher+", "f", "s", "f"),
        ("tea@worked:teacher-", "p", "f", "p"),
        # somebody else's grade of the node stands beside the answer's votes
        ("tea:teacher+ tim@worked:teacher-", "s", "d", "s"),
        ("tea:teacher+ adm@worked:admin-", "s", "f", "s"),
        ("bob+ cy+ bob@failed-", "s", "s", "d"),
    ],
)
def test_what_an_answers_votes_say_about_its_nodes(votes: str, root: str, worked: str, failed: str) -> None:
    children = [
        Episode(id="worked", parent_id="root", goal="g", person="ana", termination=Termination.SUCCESS),
        Episode(id="failed", parent_id="root", goal="g", person="ana", termination=Termination.FAILURE),
    ]
    judged = [judge(node, cast(votes), TeachingPolicy()).channel for node in (ROOT, *children)]
    assert judged == [LETTER[root], LETTER[worked], LETTER[failed]]


@pytest.mark.parametrize("ending", [Termination.SUCCESS, Termination.EXPAND, Termination.ABORTED])
def test_thumbs_down_leaves_nodes_alone_that_did_not_fail(ending: Termination) -> None:
    child = Episode(id="n", parent_id="root", goal="g", person="ana", termination=ending)
    assert ballots(child, cast("ana- tea:teacher- adm:admin-")) == []


@pytest.mark.parametrize(
    ("verdict", "ending", "status"),
    [
        *((verdict, ending, "pending") for verdict in "pd" for ending in Termination),
        *(("f", ending, "failure") for ending in Termination),
        ("s", Termination.SUCCESS, "success"),
        ("s", Termination.FAILURE, "failure"),
        ("s", Termination.EXPAND, "expand"),
        ("s", Termination.ABORTED, "success"),
    ],
)
def test_status_follows_verdict_then_ending(verdict: str, ending: Termination, status: str) -> None:
    assert derive_status(LETTER[verdict], ending) is EpisodeStatus(status)


@pytest.mark.parametrize(
    ("letters", "word"),
    [("p p p", "p"), ("s p p", "s"), ("s f p", "f"), ("f s s", "s"), ("s d p", "d"), ("d p p", "d")],
)
def test_one_word_for_lists_is_that_of_the_widest_audience(letters: str, word: str) -> None:
    assert verdicts(letters).overall is LETTER[word]


people = st.sampled_from(["ana", "bob", "cy", "dan", "eve", "fay"])
votes_of_members = st.lists(
    st.builds(
        Vote,
        workspace=st.just("w"),
        run_id=st.just("r"),
        actor=people,
        role=st.sampled_from([Role.MEMBER, Role.MEMBER, Role.TEACHER, Role.ADMIN]),
        value=st.sampled_from([-1, 1]),
        at=st.integers(0, 3).map(lambda minute: START + timedelta(minutes=minute)),
    ),
    max_size=6,
    unique_by=lambda vote: vote.actor,
)
policies = st.tuples(st.integers(1, 3), st.integers(0, 2)).map(
    lambda quorum: TeachingPolicy(quorum_up=quorum[0], quorum_down=quorum[0] + quorum[1])
)


@given(votes_of_members, st.data())
def test_order_of_votes_does_not_matter(votes: list[Vote], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(votes))
    assert judge(ROOT, shuffled, TeachingPolicy()) == judge(ROOT, votes, TeachingPolicy())


@given(votes_of_members, st.sampled_from([Role.GUEST, Role.BOT]), st.sampled_from([-1, 1]), people | st.just("gus"))
def test_guests_and_bots_change_nothing(votes: list[Vote], role: Role, value: int, name: str) -> None:
    present = {vote.actor for vote in votes}
    uncounted = Vote(workspace="w", run_id="r", actor=name, role=role, value=value, at=START)
    if name not in present:
        assert judge(ROOT, [*votes, uncounted], TeachingPolicy()) == judge(ROOT, votes, TeachingPolicy())


def _flipped(votes: Sequence[Vote]) -> list[Vote]:
    return [
        Vote(workspace=v.workspace, run_id=v.run_id, actor=v.actor, role=v.role, value=-v.value, at=v.at) for v in votes
    ]


@given(votes_of_members, policies)
def test_rejecting_needs_at_least_the_evidence_of_approving(votes: list[Vote], policy: TeachingPolicy) -> None:
    rejected, approved = judge(ROOT, votes, policy), judge(ROOT, _flipped(votes), policy)
    for audience in Audience:
        if rejected.of(audience) is Verdict.FAILURE:
            assert approved.of(audience) is Verdict.SUCCESS


@given(votes_of_members, policies)
def test_one_more_member_never_turns_a_verdict_round(votes: list[Vote], policy: TeachingPolicy) -> None:
    """A single member can make a verdict disputed, never its opposite."""
    before = judge(ROOT, votes, policy).channel
    newcomer = Vote(workspace="w", run_id="r", actor="new", role=Role.MEMBER, value=-1, at=START)
    after = judge(ROOT, [*votes, newcomer], policy).channel
    assert {before, after} != {Verdict.SUCCESS, Verdict.FAILURE}


def _reaction(actor: str, source: str, value: int, minute: int, seq: int, *, active: bool = True) -> Reaction:
    return Reaction(
        workspace="w",
        channel="c",
        message_id="m",
        actor=actor,
        source=source,
        value=value,
        at=START + timedelta(minutes=minute),
        run_id="r",
        is_active=active,
        seq=seq,
    )


@given(st.permutations(range(4)))
def test_one_vote_per_person_the_latest_active_one(order: list[int]) -> None:
    registers = [
        _reaction("ana", "emoji:👍", 1, 1, seq=1),
        _reaction("ana", "emoji:👎", -1, 2, seq=2),
        _reaction("ana", "emoji:❌", -1, 3, seq=3, active=False),
        _reaction("ana", "button", 0, 4, seq=4),
    ]
    votes = fold_votes(registers[index] for index in order)
    assert [(vote.actor, vote.value, vote.source) for vote in votes] == [("ana", -1, "emoji:👎")]


def test_at_the_same_moment_the_later_arrival_counts() -> None:
    first, second = _reaction("ana", "emoji:👍", 1, 1, seq=1), _reaction("ana", "emoji:👎", -1, 1, seq=2)
    assert [vote.value for vote in fold_votes([first, second])] == [-1]
    assert [vote.value for vote in fold_votes([second, first])] == [-1]


@pytest.mark.parametrize("quorums", [(0, 2), (2, 1), (3, 2)])
def test_a_policy_in_which_rejecting_is_easier_is_refused(quorums: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="quorum_up <= quorum_down"):
        TeachingPolicy(quorum_up=quorums[0], quorum_down=quorums[1])


@pytest.mark.parametrize(
    ("goal", "output", "is_personal"),
    [
        ("what is my birthday?", "my birthday is 4 May", True),
        ("When's my birthday?", "“My birthday” is 4 May", True),
        ("Wann ist mein Geburtstag?", "Mein Geburtstag ist der 4. Mai", True),
        ("what are my working hours?", "My working hours on Fridays are 9 to 12", True),
        ("what is the code of my bike?", "the code of my bike is 4711", True),
        ("4711 is my PIN", "4711 is my PIN", True),
        ("my wife lives in Rome", "my wife lives in Rome", True),
        ("4711 is the PIN", "4711 is the PIN", False),
        ("where is my payslip?", "Open “My payslips”.", False),
        ("how do I open my bike?", "the code of the shed is 4711", False),
        ("how do I change my password?", "My Account > Security. It is at the bottom.", False),
        ("who approves my travel?", "My Travel, the tool, asks your manager.", False),
        ("what is the code?", "my code is 12", False),
        ("what is my view?", "Myopic. Meinung: keine.", False),
    ],
)
def test_what_is_true_of_one_person_counts_for_others_only_once_it_is_promoted(
    goal: str, output: str, is_personal: bool
) -> None:
    answer, policy = replace(ROOT, goal=goal, output=output), TeachingPolicy()
    proposed = judge(answer, cast("ana+"), policy)
    assert proposed.personal is Verdict.SUCCESS
    assert (proposed.proposed is Verdict.PENDING) == is_personal
    for votes in ("ana+ tea:teacher+", "ana+ bob+ cid+", "ana+ dan:admin+"):
        assert (judge(answer, cast(votes), policy).channel is Verdict.PENDING) == is_personal
        promoted = replace(answer, promoted=Audience.WORKSPACE)
        assert judge(promoted, cast(votes), policy).workspace is Verdict.SUCCESS
    refused = judge(answer, cast("bob- cid-"), policy)
    assert refused.channel is Verdict.FAILURE
