"""A batch is taken back as a whole: its lessons, the votes on them and what rests on them; its file may come again."""

from collections.abc import Iterator, Sequence

import pytest

from memory.errors import Conflict, InvalidInput
from memory.model import Verdict
from memory.model.batch import BatchLesson
from memory.ports import EpisodeFilter
from memory.services import EntryStatus
from memory.services.batches import BatchUndo
from tests.doubles.memory_world import World, scope
from tests.memory.services.batches.learning import TESS, learned, proposal, recalled, waiting

WHERE = "where is the spare key?"
BOX = "It is in the blue box."


@pytest.fixture
def world() -> World:
    return World()


def test_all_of_it_goes_and_the_dry_run_says_so_before(world: World) -> None:
    batch, _ = learned(world, proposal(WHERE, BOX), proposal("who?", "Ben."), proposal("when?", "At nine."))
    first = waiting(world, batch)[0]
    world.memory.batch_review.approve(batch.workspace, batch.id, TESS, only={first.id})
    undo = world.memory.batch_undo
    planned = undo.plan(batch.workspace, batch.id)
    assert (planned.lessons, planned.approved, planned.votes) == (3, 1, 1)
    assert recalled(world, "dora", WHERE) == [BOX]
    assert undo.purge(batch.workspace, batch.id, actor="cli:root") == planned
    assert recalled(world, "dora", WHERE) == []
    assert world.memory.batches.views(batch.workspace) == []
    assert world.memory.audit.check() == []
    with pytest.raises(InvalidInput):
        undo.purge(batch.workspace, batch.id, actor="cli:root")


def test_what_is_learned_while_it_is_taken_back_goes_with_it_or_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = world.memory.batches.intake("terminal:w", "faq.csv", "d", actor="cli:root")
    given = [proposal(f"who has key {number}?", f"Person {number}.") for number in range(4)]
    intake.take(given[:1])
    chunks = BatchUndo._chunks

    def chunks_and_more(undo: BatchUndo, workspace: str, batch_id: str) -> Iterator[Sequence[BatchLesson]]:
        yield from chunks(undo, workspace, batch_id)
        intake.take(given[1:3])

    monkeypatch.setattr(BatchUndo, "_chunks", chunks_and_more)
    undone = world.memory.batch_undo.purge("terminal:w", intake.batch.id, actor="cli:root")
    assert undone.lessons == 3
    with pytest.raises(Conflict, match="taken back"):
        intake.take(given[3:])
    assert world.memory.audit.episodes("terminal:w", EpisodeFilter(limit=None)) == []
    again, outcomes = learned(world, *given)
    assert again.id != intake.batch.id
    assert [each.status for each in outcomes] == [EntryStatus.ADDED] * 4


def test_what_rested_on_it_is_a_lesson_no_more(world: World) -> None:
    batch, _ = learned(world, proposal(WHERE, BOX))
    world.memory.batch_review.approve(batch.workspace, batch.id, TESS)
    answer = world.ask(WHERE, BOX, of=scope("dora"))
    world.react(answer, "👍", by="dora")
    assert world.episode(answer).verdict is Verdict.SUCCESS
    assert world.memory.batch_undo.purge(batch.workspace, batch.id, actor="cli:root").unlearned == 1
    assert world.episode(answer).verdict is Verdict.PENDING


def test_the_file_may_come_again_but_not_what_was_erased(world: World) -> None:
    given = [proposal(WHERE, BOX), proposal("who?", "Ben.", of=scope("ben"))]
    batch, _ = learned(world, *given)
    world.memory.privacy.forget(batch.workspace, "ben")
    world.memory.batch_undo.purge(batch.workspace, batch.id, actor="cli:root")
    again, outcomes = learned(world, *given)
    assert again.id != batch.id
    assert [each.status for each in outcomes] == [EntryStatus.ADDED, EntryStatus.KNOWN]


def test_whoever_took_it_back_may_be_purged_or_forgotten_and_it_stays_away(world: World) -> None:
    batch, _ = learned(world, proposal(WHERE, BOX))
    world.memory.batch_review.approve(batch.workspace, batch.id, TESS)
    world.memory.batch_undo.purge(batch.workspace, batch.id, actor="tess")
    world.memory.purging.purge(batch.workspace, "tess", actor="cli:root", at=world.clock.tick())
    world.memory.privacy.forget(batch.workspace, "tess")
    assert recalled(world, "dora", WHERE) == []


def test_purging_an_author_takes_their_part_of_it(world: World) -> None:
    batch, _ = learned(world, proposal(WHERE, BOX), proposal("who?", "Ben.", of=scope("ben")))
    world.memory.purging.purge(batch.workspace, "ben", actor="cli:root", at=world.clock.tick())
    assert [each.author for each in waiting(world, batch)] == ["bea"]
