"""Laws of teaching, over random sequences of what people do."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given, strategies as st

from memory.model import Episode, KnownPeople, Reaction, Role, TeachingPolicy, Termination, Verdict, Verdicts
from memory.rules.fold import registers
from memory.rules.verdict import fold_votes, judge, standing
from tests.doubles.memory_world import START, VALUES, World

PEOPLE = {"ana": Role.MEMBER, "bob": Role.MEMBER, "cy": Role.MEMBER, "tea": Role.TEACHER, "gus": Role.GUEST}

Act = tuple[int, str, str, bool, int]
"""(answer, person, emoji, added, when)"""

acts = st.lists(
    st.tuples(
        st.integers(0, 1), st.sampled_from(sorted(PEOPLE)), st.sampled_from("👍👎"), st.booleans(), st.integers(0, 30)
    ),
    max_size=25,
)


def _world() -> tuple[World, list[Episode]]:
    world = World()
    children = [("first half", Termination.SUCCESS), ("second half", Termination.FAILURE)]
    return world, [world.ask("both halves", children=children), world.ask("something else")]


def _do(world: World, answers: list[Episode], act: Act, event_id: str = "") -> None:
    answer, person, emoji, added, when = act
    world.react(
        answers[answer],
        emoji,
        by=person,
        role=PEOPLE[person],
        added=added,
        at=START + timedelta(minutes=when),
        event_id=event_id,
    )


def _state(world: World, answers: list[Episode]) -> list[tuple[object, ...]]:
    return [(node.verdicts, node.status, node.strength) for answer in answers for node in world.nodes(answer)]


def _last_word(sequence: list[Act]) -> dict[tuple[int, str, str], Act]:
    """What each register holds at the end: the act with the latest time; at equal times, the one that came last."""
    final: dict[tuple[int, str, str], Act] = {}
    for act in sequence:
        key = act[:3]
        if key not in final or act[4] >= final[key][4]:
            final[key] = act
    return final


def _expected(world: World, answers: list[Episode], sequence: list[Act]) -> list[Verdicts]:
    """The verdicts as the fold of the final reactions, computed without the store."""
    final = _last_word(sequence)
    reactions = [
        Reaction(
            workspace=answers[answer].workspace,
            channel="c1",
            message_id="m",
            actor=person,
            source=f"emoji:{emoji}",
            value=VALUES[emoji],
            at=START + timedelta(minutes=when),
            role=PEOPLE[person],
            run_id=answers[answer].run_id,
            is_active=added,
            seq=sequence.index((answer, person, emoji, added, when)),
        )
        for answer, person, emoji, added, when in final.values()
    ]
    cast = fold_votes(reactions)
    # From a teacher's first vote on, members only propose.
    taught_from = min((vote.at for vote in cast if vote.role is Role.TEACHER), default=None)
    known = KnownPeople(taught_from=taught_from)
    verdicts = []
    for answer in answers:
        votes = [replace(vote, standing=standing(vote, known)) for vote in cast if vote.run_id == answer.run_id]
        verdicts += [judge(node, votes, TeachingPolicy()) for node in world.nodes(answer)]
    return verdicts


def _distinct_times(sequence: list[Act]) -> list[Act]:
    """One moment per act, in order, so that the later of two thumbs is never a matter of chance."""
    return [(*act[:4], number) for number, act in enumerate(sequence)]


@given(acts)
def test_the_state_is_the_fold_of_the_final_reactions(sequence: list[Act]) -> None:
    timed = _distinct_times(sequence)
    world, answers = _world()
    for act in timed:
        _do(world, answers, act)
    assert [state[0] for state in _state(world, answers)] == _expected(world, answers, timed)
    assert world.memory.audit.check() == []


@given(acts, st.randoms(use_true_random=False))
def test_order_of_delivery_does_not_matter(sequence: list[Act], chance: object) -> None:
    timed = _distinct_times(sequence)
    shuffled = list(timed)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types it as object
    one, answers_of_one = _world()
    other, answers_of_other = _world()
    for act in timed:
        _do(one, answers_of_one, act)
    for act in shuffled:
        _do(other, answers_of_other, act)
    assert _state(one, answers_of_one) == _state(other, answers_of_other)
    assert other.memory.audit.check() == []


@given(acts)
def test_delivering_everything_twice_changes_nothing(sequence: list[Act]) -> None:
    timed = _distinct_times(sequence)
    world, answers = _world()
    for number, act in enumerate(timed):
        _do(world, answers, act, event_id=f"e{number}")
    before = _state(world, answers)
    for number, act in enumerate(timed):
        _do(world, answers, act, event_id=f"e{number}")
    assert _state(world, answers) == before


@given(acts, acts)
def test_taking_everything_back_restores_the_state_before(earlier: list[Act], later: list[Act]) -> None:
    world, answers = _world()
    for act in _distinct_times(earlier):
        _do(world, answers, act)
    before = _state(world, answers)
    standing = {key for key, act in _last_word(_distinct_times(earlier)).items() if act[3]}
    added: list[Act] = []
    for number, (answer, person, emoji, _, _) in enumerate(later, start=100):
        if (answer, person, emoji) not in standing:
            act = (answer, person, emoji, True, number)
            _do(world, answers, act)
            added.append(act)
    for number, (answer, person, emoji, _, _) in enumerate(added, start=200):
        _do(world, answers, (answer, person, emoji, False, number))
    assert _state(world, answers) == before
    assert world.memory.audit.check() == []


@given(acts)
def test_what_is_pending_or_disputed_is_never_recalled(sequence: list[Act]) -> None:
    world, answers = _world()
    for act in _distinct_times(sequence):
        _do(world, answers, act)
    undecided = {
        node.id
        for answer in answers
        for node in world.nodes(answer)
        if not any(getattr(node.verdicts, name).is_validated for name in ("personal", "channel", "workspace"))
    }
    for person in PEOPLE:
        for goal in ("both halves", "first half", "second half", "something else"):
            recollection = world.memory.recalling.recall(replace(answers[0].scope, person=person), goal)
            assert not undecided & {exemplar.episode.id for exemplar in recollection.exemplars}


@given(acts)
def test_guests_never_count(sequence: list[Act]) -> None:
    world, answers = _world()
    for act in _distinct_times([(answer, "gus", emoji, added, 0) for answer, _, emoji, added, _ in sequence]):
        _do(world, answers, act)
    assert all(node.verdict is Verdict.PENDING for answer in answers for node in world.nodes(answer))


@given(acts)
def test_registers_rebuild_from_the_log(sequence: list[Act]) -> None:
    world, answers = _world()
    for act in sequence:
        _do(world, answers, act)
    with world.memory.store.read() as tx:
        for answer in answers:
            told = {
                r.key: (r.value, r.is_active, r.at) for r in registers(tx.log.of_run(answer.workspace, answer.run_id))
            }
            stored = tx.teaching.reactions_of_run(answer.workspace, answer.run_id)
            assert told == {r.key: (r.value, r.is_active, r.at) for r in stored}
