"""`goodbot bench tasks`: compares the agent tree with a flat agent, with and without episodic and working memory."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from statistics import mean

from bot.agent.tools.notes import recall_tool, remember_tool
from bot.agent.tools.registry import Tool, ToolContext, ToolRegistry
from bot.app.bench.fresh_bot import FreshBot, SimulatedClock, fresh_bot
from bot.app.bench.messenger import PostedAnswer
from bot.app.bench.people import CHANNEL, AnswerWorth, Habits, People
from bot.app.bench.plot import NamedCurves, svg
from bot.app.bench.stream import without_conversation
from bot.app.bench.tasks.office import BY_TOOL, Act, Office
from bot.app.bench.tasks.policy import TaskModel
from bot.app.bench.tasks.task_set import Difficulty, OfficeTask, tasks
from bot.config import Settings
from bot.errors import BotError
from bot.model import PersonEvent
from memory.model import Episode, Grant, Permission, Role
from memory.ports import Embedder

_PACE = timedelta(minutes=2)
_EVENT = timedelta(milliseconds=1)
_WINDOW = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskArm:
    """One configuration of the agent."""

    is_tree: bool = True
    """Whether goals may be split into nodes; if not, one node does everything."""
    episodic: bool = True
    """Whether people react to its answers, so that there are lessons."""
    working: bool = True
    """Whether its nodes have working memory, with tools to read and write it."""

    @property
    def name(self) -> str:
        """The name shown in tables."""
        memory = {(True, True): "both", (True, False): "episodic", (False, True): "working", (False, False): "none"}
        return f"{'tree' if self.is_tree else 'flat'}, {memory[self.episodic, self.working]}"


ARMS = tuple(
    TaskArm(is_tree=is_tree, episodic=episodic, working=working)
    for is_tree in (True, False)
    for episodic in (True, False)
    for working in (True, False)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutcome:
    """The outcome of one task."""

    difficulty: Difficulty
    is_done: bool
    """Whether everything requested was done and said, and nothing else with side effects."""
    decisions: int
    steps: int
    """The number of uses of the office's tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmResult:
    """The results of one arm: for each seed and round, the outcome of every task. Memory is kept across rounds."""

    arm: TaskArm
    streams: tuple[tuple[tuple[TaskOutcome, ...], ...], ...]

    def success(self, number: int, difficulty: Difficulty | None = None) -> float:
        """The share of tasks done in one round, given by its index; of one difficulty or of all."""
        of_round = [each for stream in self.streams for each in stream[number]]
        wanted = [each for each in of_round if difficulty in (None, each.difficulty)]
        return mean(each.is_done for each in wanted) if wanted else 0.0

    def row(self) -> list[str]:
        """The row of the table."""
        rounds = range(len(self.streams[0]))
        shares = [*map(self.success, rounds), *(self.success(-1, each) for each in Difficulty)]
        spread = [mean(each.is_done for each in stream[-1]) for stream in self.streams]
        every = [each for stream in self.streams for one in stream for each in one]
        return [
            self.arm.name,
            *(f"{share:.0%}" for share in shares),
            f"{min(spread):.0%} to {max(spread):.0%}",
            f"{mean(each.decisions for each in every):.1f}",
            f"{mean(each.steps for each in every):.1f}",
        ]

    def curves(self) -> NamedCurves:
        """The share of recent tasks that were done, by the number of tasks before."""
        return NamedCurves(
            name=self.arm.name,
            curves=[_moving([each.is_done for one in stream for each in one]) for stream in self.streams],
        )


def _moving(done: Sequence[bool]) -> list[tuple[int, float]]:
    """The share done among the last thirty-six (half a round), with a point for every fourth task."""
    counts = sorted({*range(4, len(done), 4), len(done)})
    return [(count, mean(done[max(0, count - _WINDOW) : count])) for count in counts]


def head(rounds: int) -> list[str]:
    """The head of the table."""
    shares = [f"round {number}" for number in range(1, rounds + 1)]
    return [
        "agent, memory",
        *shares,
        *(f"last: {each.value}" for each in Difficulty),
        "last, by seed",
        "decisions",
        "steps",
    ]


def compare_arms(
    *,
    seeds: Sequence[int],
    rounds: int,
    count: int | None,
    settings: Settings,
    embedder: Embedder,
    show: Callable[[str], None],
    arms: Sequence[TaskArm] = ARMS,
) -> list[ArmResult]:
    """Run every arm through the tasks in each round, for each seed; only the first `count` tasks if given."""
    found: list[ArmResult] = []
    for arm in arms:
        streams: list[tuple[tuple[TaskOutcome, ...], ...]] = []
        for seed in seeds:
            chance, chosen = random.Random(seed), tasks()
            chance.shuffle(chosen)
            orders = [chance.sample(chosen[:count], len(chosen[:count])) for _ in range(rounds)]
            streams.append(asyncio.run(_stream(orders, arm, seed, settings, embedder)))
        found.append(ArmResult(arm=arm, streams=tuple(streams)))
        show(f"{arm.name}: {found[-1].success(-1):.0%} done in the last round")
    return found


def plot(results: Sequence[ArmResult]) -> str:
    """The curves of all arms as a picture."""
    title = f"Office tasks done, of the last {_WINDOW}"
    return svg(title, [each.curves() for each in results], along="tasks given")


def plain(results: Sequence[ArmResult]) -> list[dict[str, object]]:
    """Every number, in JSON values."""
    return [
        {
            "arm": asdict(each.arm),
            "seeds": [[[asdict(task) for task in one] for one in stream] for stream in each.streams],
        }
        for each in results
    ]


async def _stream(
    orders: Sequence[Sequence[OfficeTask]], arm: TaskArm, seed: int, settings: Settings, embedder: Embedder
) -> tuple[tuple[TaskOutcome, ...], ...]:
    """Give the tasks one after another to a bot that knows nothing, and let its asker react to each."""
    clock, office = SimulatedClock(), Office()
    agent = settings.agent.model_copy(update={} if arm.is_tree else {"max_depth": 1})
    settings = without_conversation(settings.model_copy(update={"agent": agent}))
    notes = [remember_tool(clock), recall_tool()] if arm.working else []
    tools, model = ToolRegistry([*office.tools(), *notes], permit=_permit_all), TaskModel(embedder.embed)
    async with fresh_bot(settings, embedder, clock, model, seed=seed, tools=tools) as bot:
        people = People(Habits(role=Role.TEACHER), seed=seed, clock=clock, new_id=bot.memory.new_id)
        asking = _Asking(bot=bot, model=model, office=office, people=people, clock=clock)
        return tuple([tuple([await asking.give(task, reacts=arm.episodic) for task in order]) for order in orders])


@dataclass(slots=True, kw_only=True)
class _Asking:
    """The person who gives the tasks and reacts to the answers."""

    bot: FreshBot
    model: TaskModel
    office: Office
    people: People
    clock: SimulatedClock

    async def give(self, task: OfficeTask, *, reacts: bool) -> TaskOutcome:
        """Give one task. Raises `BotError` if there was no reply."""
        self.office.begin()
        self.bot.messenger.answer, self.model.decisions = None, 0
        await self.bot.send(self.people.ask(task.text))
        answer = self.bot.messenger.answer
        if answer is None:
            raise BotError(f"the bot said nothing to the task {task.text!r}; the log says why")
        outcome = TaskOutcome(
            difficulty=task.difficulty,
            is_done=is_done(task, answer.text, self.office.acts),
            decisions=self.model.decisions,
            steps=self.office.attempts,
        )
        for event in self._reactions(task, answer, is_done=outcome.is_done) if reacts else ():
            self.clock.advance(_EVENT)
            await self.bot.send(event)
        self.clock.advance(_PACE)
        return outcome

    def _reactions(self, task: OfficeTask, answer: PostedAnswer, *, is_done: bool) -> list[PersonEvent]:
        """A thumb; after a thumb down, also a tap on each part that did something: right or wrong."""
        thumb = self.people.respond(answer.message_id, AnswerWorth.RIGHT if is_done else AnswerWorth.WRONG, "")
        nodes = self.bot.memory.audit.nodes(CHANNEL.workspace, answer.run_id) if not is_done else ()
        taps = [
            self.people.judge_part(node.id, is_right=all(act in task.acts for act in acts))
            for node in nodes
            if not node.is_root and (acts := _acts(node))
        ]
        return [*thumb, *taps]


async def _permit_all(_: Tool, __: Mapping[str, object], ___: ToolContext) -> Permission | None:
    """Permit every tool, as approvals are not measured here."""
    return Permission(grant=Grant.ALWAYS, by="teacher")


def is_done(task: OfficeTask, answer: str, acts: Sequence[Act]) -> bool:
    """Whether everything requested was done and said, and nothing else with side effects."""
    beside = [act for act in acts if act not in task.acts and BY_TOOL[act[0]].has_effects]
    twice = [act for act in set(acts) if BY_TOOL[act[0]].has_effects and acts.count(act) > 1]
    is_all = set(task.acts) <= set(acts) and all(result in answer for result in task.results)
    return is_all and not beside and not twice


def _acts(node: Episode) -> list[Act]:
    """The office's tools that a node used."""
    return [
        (step.tool, str(next(iter(step.arguments.values()), "")))
        for step in node.trajectory
        if step.tool in BY_TOOL and step.arguments
    ]
