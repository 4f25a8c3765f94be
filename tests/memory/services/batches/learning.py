"""Files of questions and answers, learned in tests."""

from collections.abc import Sequence

from memory.model import Audience, Episode, Role, Scope, Visibility
from memory.model.batch import Batch, Proposal
from memory.services import EntryOutcome, Reviewer
from tests.doubles.memory_world import World, scope

TESS = Reviewer(actor="tess", role=Role.TEACHER)
KEY = "AKIA" + "Q7RZ2MPLW5XNYT3D"


def proposal(
    question: str,
    answer: str,
    *,
    of: Scope | None = None,
    key: str = "",
    audience: Audience = Audience.CHANNEL,
    others: Sequence[str] = (),
    accepted_by: str = "",
) -> Proposal:
    return Proposal(
        scope=of or scope("bea"),
        question=question,
        answer=answer,
        key=key or f"{question}\n{answer}",
        audience=audience,
        source="line 1",
        others=tuple(others),
        accepted_by=accepted_by,
    )


def learned(
    world: World, *proposals: Proposal, digest: str = "d", is_dry_run: bool = False
) -> tuple[Batch, list[EntryOutcome]]:
    """What becomes of a file with these, and its batch."""
    world.clock.tick()
    intake = world.memory.batches.intake("terminal:w", "faq.csv", digest, actor="cli:root", is_dry_run=is_dry_run)
    return intake.batch, intake.take(proposals)


def waiting(world: World, batch: Batch) -> list[Episode]:
    found, total = world.memory.batches.waiting(batch.workspace, batch.id, lambda _: True, lambda total: slice(total))
    assert total == len(found)
    return [lesson for lesson, _ in found]


def recalled(
    world: World, person: str, question: str, *, channel: str = "c1", visibility: Visibility = Visibility.PUBLIC
) -> list[str]:
    """The answers that somebody's question there brings back."""
    found = world.memory.recalling.recall(scope(person, channel=channel, visibility=visibility), question)
    return [each.episode.output for each in found.exemplars]
