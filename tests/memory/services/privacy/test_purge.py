"""Taking away what one person taught: what goes, what stays, what rested on it, and that the log tells all of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.adapters.sql import SqlStore
from memory.errors import InvalidInput
from memory.model import Audience, Episode, EventKind, Role, Verdict, Verdicts, Visibility
from memory.ports import EpisodeFilter
from memory.services import Purge
from tests.doubles.memory_world import World, scope
from tests.memory.services.privacy.test_forget import remains

W = "terminal:w"
MALLORY = "mallory"
S = Verdict.SUCCESS


@pytest.fixture
def world() -> Iterator[World]:
    store = SqlStore.in_memory()
    world = World(store)
    yield world
    assert world.memory.audit.check() == []
    store.close()


def purge(world: World, person: str = MALLORY, *, by: str = "tea", role: Role = Role.TEACHER) -> Purge:
    """Purge, after proving that the plan tells the same and changes nothing."""
    before = everything(world)
    planned = world.memory.purging.plan(W, person, role=role)
    assert everything(world) == before
    done = world.memory.purging.purge(W, person, actor=by, at=world.clock.tick(), role=role)
    assert done == planned
    return done


def everything(world: World) -> list[object]:
    with world.memory.store.read() as tx:
        every = tx.episodes.search(W, EpisodeFilter(include_archived=True, limit=None))
        return [(each, tx.episodes.index_of(W, each.id), tx.log.of_episode(W, each.id)) for each in every]


def teach(world: World, question: str, answer: str, by: str = MALLORY, role: Role = Role.TEACHER) -> Episode:
    world.clock.tick()
    lesson = world.memory.teaching.teach(
        scope(by), question, answer, role=role, audience=Audience.WORKSPACE, at=world.clock()
    )
    assert lesson is not None
    return lesson


def test_votes_lessons_corrections_and_promotions_are_withdrawn(world: World) -> None:
    liked = world.ask("what is for lunch?", "soup")
    world.react(liked, "👍", by=MALLORY, role=Role.TEACHER)
    world.react(liked, "👎", by=MALLORY, role=Role.TEACHER)
    world.react(liked, "👍", by=MALLORY, role=Role.TEACHER)
    wrong = world.ask("when is dinner?", "at nine", of=scope("bob"))
    world.correct(wrong, "at six", by="bob")
    world.correct(wrong, "never", by=MALLORY, role=Role.TEACHER)
    teach(world, "where is the ladder?", "in the river")
    own = world.ask("who has the key?", "ana has it")
    world.react(own, "👍")
    world.memory.curation.promote(W, own.id, Audience.WORKSPACE, actor=MALLORY, role=Role.TEACHER)
    done = purge(world)
    assert (done.votes, done.lessons, done.corrections, done.promotions, done.unlearned) == (1, 1, 1, 1, 1)
    assert set(done.runs) >= {liked.run_id}
    assert world.episode(liked).verdict is Verdict.PENDING
    assert world.episode(wrong).verdicts == Verdicts(personal=Verdict.FAILURE, proposed=Verdict.FAILURE)
    assert world.episode(wrong).correction == "at six"
    assert world.episode(own).verdicts == Verdicts(personal=S, proposed=S)
    assert world.recalled("where is the ladder?", scope(MALLORY)) == []
    again = purge(world)
    assert again == Purge(taught_by=MALLORY)


def test_an_answer_that_rested_on_a_lesson_goes_back_to_pending_and_so_does_the_next(world: World) -> None:
    teach(world, "where is the ladder?", "in the deep river")
    chain = []
    for person in ("bob", "cy", "dan"):
        chain.append(world.ask("where is the ladder?", "in the deep river", of=scope(person, channel="c1")))
        world.react(chain[-1], "👍", by="tea", role=Role.TEACHER)
    rejected = world.ask("where is the ladder?", "in the deep river", of=scope("eve"))
    world.react(rejected, "👎", by="eve")
    done = purge(world)
    assert (done.lessons, done.unlearned) == (1, 3)
    assert [world.episode(each).verdict for each in chain] == [Verdict.PENDING] * 3
    assert world.episode(rejected).verdict is Verdict.FAILURE
    assert world.recalled("where is the ladder?", scope("zoe")) == []
    world.react(chain[0], "👍", by="bob")
    assert world.episode(chain[0]).verdicts.personal is S, "people may approve it again"


def test_an_answer_that_rested_on_anothers_lesson_stays_while_its_asker_is_still_given_that_lesson(
    world: World,
) -> None:
    shared = teach(world, "where is the ladder?", "in the garden shed", by="bob", role=Role.MEMBER)
    world.memory.curation.promote(W, shared.id, Audience.CHANNEL, actor="tea", role=Role.TEACHER)
    world.memory.curation.promote(W, shared.id, Audience.WORKSPACE, actor=MALLORY, role=Role.TEACHER)
    here = world.ask("where is the ladder?", "in the garden shed", of=scope("cy"))
    there = world.ask("where is the ladder?", "in the garden shed", of=scope("dan", channel="c2"))
    for answer, asker in ((here, "cy"), (there, "dan")):
        world.react(answer, "👍", by=asker)
    done = purge(world)
    assert (done.promotions, done.unlearned) == (1, 1)
    assert world.episode(shared).verdicts == Verdicts(personal=S, channel=S)
    assert world.episode(here).verdict is S
    assert world.episode(there).verdict is Verdict.PENDING


def test_what_they_archived_of_others_comes_back_and_what_they_restored_goes(world: World) -> None:
    kept, gone = (teach(world, f"{word}?", word, by="bob") for word in ("ladder", "hammer"))
    curation = world.memory.curation
    curation.archive(W, kept.id, actor=MALLORY)
    curation.archive(W, gone.id, actor="bob")
    curation.restore(W, gone.id, actor=MALLORY)
    own = world.ask("my own question", of=scope(MALLORY))
    curation.archive(W, own.id, actor=MALLORY)
    assert purge(world).shelved == 2
    assert [world.episode(each).archived_at is None for each in (kept, gone, own)] == [True, False, False]


def test_undoing_ones_purge_does_not_bring_anything_back(world: World) -> None:
    """Neither forgetting nor purging whoever purged."""
    lesson = teach(world, "where is the ladder?", "in the river")
    liked = world.ask("lunch?", "soup")
    world.react(liked, "👍", by=MALLORY, role=Role.TEACHER)
    shared = teach(world, "hammer?", "shed", by="bob", role=Role.MEMBER)
    for who in (MALLORY, "tea"):
        world.memory.curation.promote(W, shared.id, Audience.WORKSPACE, actor=who, role=Role.TEACHER)
    purge(world)
    assert world.episode(shared).promoted is Audience.WORKSPACE
    world.memory.curation.restore(W, lesson.id, actor="tea")
    purge(world, "tea", by="adm", role=Role.ADMIN)
    world.memory.privacy.forget(W, "adm")
    world.memory.privacy.forget(W, "tea")
    assert world.episode(lesson).archived_at is not None
    assert world.episode(liked).verdict is Verdict.PENDING
    assert world.episode(shared).promoted is None


def test_the_log_tells_who_purged_and_forgetting_leaves_no_name(world: World, tmp_path: Path) -> None:
    teach(world, "where is the ladder?", "in the zyzzyva")
    answer = world.ask("where is the ladder?", "in the zyzzyva", of=scope("cy"))
    world.react(answer, "👍", by="cy")
    purge(world)
    with world.memory.store.read() as tx:
        (told,) = tx.log.by_actor(W, "tea", [EventKind.PURGED])
    assert (told.episode_id, told.detail["lessons"], told.detail["unlearned"]) == ("", 1, 1)
    world.memory.privacy.forget(W, MALLORY)
    assert not remains(world, MALLORY)
    world.memory.privacy.forget(W, "tea")
    assert not remains(world, "tea")


def test_a_vote_that_overtook_its_answer_does_not_count_when_the_answer_comes(world: World) -> None:
    answer = world.ask("lunch?", "soup")
    world.memory.teaching.react(
        world.reaction(answer, by=MALLORY, role=Role.TEACHER, message_id="later"), event_id="early"
    )
    assert purge(world).votes == 1
    late = world.ask("dinner?", "fish", message_id="later")
    assert world.episode(late).verdict is Verdict.PENDING


def test_another_workspace_is_not_touched_and_neither_is_what_they_asked(world: World) -> None:
    namesake = world.ask("lunch?", "soup", of=scope(MALLORY, workspace="slack:w"))
    world.react(namesake, "👍", by=MALLORY)
    asked = world.ask("lunch?", "soup", of=scope(MALLORY))
    world.react(asked, "👍", by="tea", role=Role.TEACHER)
    private = world.ask("secret?", "yes", of=scope("ana", channel="p1", visibility=Visibility.PRIVATE))
    world.react(private, "👍", by="ana")
    assert purge(world).is_empty
    assert world.episode(namesake).verdict is S
    assert world.episode(asked).verdicts.channel is S


def test_only_teachers_purge_and_only_administrators_purge_one_of_them(world: World) -> None:
    answer = world.ask("lunch?", "soup")
    world.memory.teaching.grade(W, answer.id, S, actor="adm")
    for role, person in ((Role.MEMBER, MALLORY), (Role.GUEST, MALLORY), (Role.TEACHER, "adm")):
        with pytest.raises(InvalidInput):
            world.memory.purging.plan(W, person, role=role)
        with pytest.raises(InvalidInput):
            world.memory.purging.purge(W, person, actor="x", at=world.clock(), role=role)
    assert world.episode(answer).verdict is S
    assert purge(world, "adm", role=Role.ADMIN).votes == 1
