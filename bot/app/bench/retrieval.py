"""`goodbot bench retrieval`: teaches answers, then measures whether recall believes in the right ones."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from itertools import count

from bot.adapters.llm.offline.model import OfflineModel
from bot.app.bench.embedding import prepared_embedder
from bot.app.bench.fresh_bot import SimulatedClock, fresh_bot
from bot.app.bench.labelled import LabelledMessage
from bot.app.bench.people import CHANNEL, Habits, People
from bot.app.bench.progress import ShowsStage
from bot.app.bench.report import Times, times
from bot.config import Settings
from memory.model.evidence import Evidence
from memory.ports import Embedder
from memory.services import Memory

_CONTEXT = frozenset({f"platform:{CHANNEL.platform}", f"channel:{CHANNEL.channel}", f"person:{CHANNEL.person}"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The measured quality of recall."""

    lessons: int
    messages: int
    outside: int
    """The number of messages that no lesson is about."""
    hit_at_1: float
    """The share of messages for which the right answer has the highest belief."""
    mrr: float
    """The mean reciprocal rank of the right answer by belief, 0 where it is not among the beliefs returned."""
    auroc: float | None
    """How well the cosine of the nearest lesson plus the best belief separates messages with lessons from those
    outside: the probability that it is higher for the former. None without messages outside."""
    teaching_ms: Times
    recall_ms: Times

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Head and row of a table."""
        head = ["lessons", "asked", "hit@1", "MRR", "AUROC", "recall ms", "p95", "teaching ms", "p95"]
        shares = ["" if share is None else f"{share:.3f}" for share in (self.hit_at_1, self.mrr, self.auroc)]
        numbers = [f"{value:.1f}" for part in (self.recall_ms, self.teaching_ms) for value in asdict(part).values()]
        return head, [[f"{self.lessons:,}", f"{self.messages + self.outside:,}", *shares, *numbers]]


def retrieve(
    lessons: Sequence[LabelledMessage],
    messages: Sequence[LabelledMessage],
    outside: Sequence[str],
    *,
    pace: timedelta,
    settings: Settings,
    show: ShowsStage,
) -> Retrieval:
    """Measure once, after embedding everything."""
    embedder = prepared_embedder(settings, [*(each.text for each in [*lessons, *messages]), *outside], show)
    steps = count(1)
    with show("lessons and messages", len(lessons) + len(messages) + len(outside)) as step:
        return asyncio.run(
            measure(
                lessons,
                messages,
                outside,
                pace=pace,
                settings=settings,
                embedder=embedder,
                on_step=lambda: step(next(steps)),
            )
        )


async def measure(
    lessons: Sequence[LabelledMessage],
    messages: Sequence[LabelledMessage],
    outside: Sequence[str],
    *,
    pace: timedelta,
    settings: Settings,
    embedder: Embedder,
    on_step: Callable[[], None],
) -> Retrieval:
    """Teach every lesson to an empty bot, then recall for every message as its asker. `on_step` is called for each."""
    clock = SimulatedClock()
    teaching_ms: list[float] = []
    recall_ms: list[float] = []

    def recall(memory: Memory, text: str) -> Evidence:
        begun = time.perf_counter()
        found = memory.recalling.recall(CHANNEL, text, context=_CONTEXT, actions=()).evidence
        recall_ms.append((time.perf_counter() - begun) * 1000)
        on_step()
        return found or Evidence()

    async with fresh_bot(settings, embedder, clock, OfflineModel(embedder.embed)) as bot:
        people = People(Habits(), seed=0, clock=clock, new_id=bot.memory.new_id)
        for lesson in lessons:
            begun = time.perf_counter()
            await bot.send(people.teach(lesson.text, lesson.label.text))
            teaching_ms.append((time.perf_counter() - begun) * 1000)
            clock.advance(pace)
            on_step()
        near = [recall(bot.memory, message.text) for message in messages]
        far = [familiarity(recall(bot.memory, text)) for text in outside]
    label_of = {lesson.label.text: lesson.label.label for lesson in lessons}
    ranks: list[float] = []
    for message, evidence in zip(messages, near, strict=True):
        named = [label_of.get(belief.text) for belief in evidence.beliefs]
        ranks.append(1 / (named.index(message.label.label) + 1) if message.label.label in named else 0.0)
    return Retrieval(
        lessons=len(lessons),
        messages=len(messages),
        outside=len(outside),
        hit_at_1=ranks.count(1.0) / len(ranks),
        mrr=sum(ranks) / len(ranks),
        auroc=auroc([familiarity(evidence) for evidence in near], far) if far else None,
        teaching_ms=times(teaching_ms),
        recall_ms=times(recall_ms),
    )


def familiarity(evidence: Evidence) -> float:
    """How much is known about a goal: the nearest cosine plus the best belief, which together separate better."""
    return evidence.nearest + max((belief.value for belief in evidence.beliefs), default=0.0)


def auroc(inside: Sequence[float], outside: Sequence[float]) -> float:
    """The probability that one of `inside` is above one of `outside`; ties count half (Mann and Whitney 1947)."""
    scored = sorted([(score, True) for score in inside] + [(score, False) for score in outside])
    wins, below, place = 0.0, 0, 0
    while place < len(scored):
        end = place
        while end < len(scored) and scored[end][0] == scored[place][0]:
            end += 1
        ours = sum(is_inside for _, is_inside in scored[place:end])
        theirs = end - place - ours
        wins += ours * (below + theirs / 2)
        below, place = below + theirs, end
    return wins / (len(inside) * len(outside))
