"""`goodbot bench attack`: measures how far a few attackers can spoil what everybody else taught.

They either teach a wrong answer to some questions, or reject right answers that follow from a teacher's lessons.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import timedelta
from enum import StrEnum

from bot.adapters.llm.offline.model import OfflineModel
from bot.adapters.llm.offline.ranking import Likelihood, on_offer
from bot.agent.tools.registry import ToolRegistry
from bot.app.bench.embedding import prepared_embedder
from bot.app.bench.fresh_bot import FreshBot, SimulatedClock, fresh_bot
from bot.app.bench.labelled import Label, LabelledMessage
from bot.app.bench.people import CHANNEL
from bot.app.bench.progress import ShowsStage, ShowsStep
from bot.config import Settings
from bot.model import PersonMessage
from memory.errors import InvalidInput
from memory.model import Audience, Episode, Lesson, Reaction, Role
from memory.model.evidence import Belief
from memory.ports import Embedder
from memory.services import Memory

TEAM = 40
"""The number of honest people who teach."""
LESSONS = 5
"""Honest lessons for each label that is attacked."""
AROUND = 3
"""Honest lessons for each other label."""
ATTACKS = 10
"""The number of attacks on each label: lessons with one wrong answer, or rejected answers."""
CONTEXT = frozenset({f"platform:{CHANNEL.platform}", f"channel:{CHANNEL.channel}", "person:victim"})
_PACE = timedelta(minutes=2)
_MONTH = timedelta(days=30)


class AttackKind(StrEnum):
    """What the attackers do."""

    POISON = "poison"
    """They teach a wrong answer on the label's own wordings."""
    REFUSE = "refuse"
    """They reject right answers that follow from a teacher's lessons and that nobody judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackArm:
    """The parameters of an attack."""

    kind: AttackKind = AttackKind.POISON
    attackers: int = 1
    """The number of attackers. Two approve each other's lessons, or both reject the same answers."""
    newcomers: bool = False
    """Whether they attack on the day they join; else a month later."""
    labels: int = 50
    """How many labels are attacked, each by attackers of its own."""
    everywhere: bool = False
    """Whether all labels have the same attackers, whose votes then concern many other things too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackDamage:
    """What the victims got, as shares of their messages."""

    right: float
    """The right answer is believed most."""
    poison: float
    """The wrong answer is believed most, and would be chosen if one must be."""
    given: float
    """The wrong answer would be given without asking back."""
    offered: float
    """The wrong answer would be among the options, where none is given."""
    right_offered: float
    """The right answer would be among the options."""
    in_prompt: float
    """A lesson to repeat in the prompt has the wrong answer."""
    called_wrong: float
    """A lesson in the prompt says that the right answer is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackResult:
    """The victims' messages before and after one attack."""

    seed: int
    before: AttackDamage
    after: AttackDamage


def attack(
    lessons: Sequence[LabelledMessage],
    messages: Sequence[LabelledMessage],
    arm: AttackArm,
    *,
    seeds: Sequence[int],
    settings: Settings,
    show: ShowsStage,
) -> list[AttackResult]:
    """Run the attack once per seed, after embedding all texts. Raises `InvalidInput` for too few messages."""
    _require_enough(lessons, arm)
    battles = [_AttackRun(lessons, messages, arm, seed) for seed in seeds]
    embedder = prepared_embedder(settings, (text for battle in battles for text in battle.texts), show)
    results: list[AttackResult] = []
    for battle in battles:
        with show(f"attack {battle.seed}", 3 * arm.labels) as step:
            results.append(asyncio.run(battle.run(settings, embedder, step)))
    return results


def rows(results: Sequence[AttackResult]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a table: each seed before and after, then the means."""
    head = ["seed", "", "right", "poison chosen", "poison given", "poison offered", "right offered"]
    head += ["poison in prompt", "right called wrong"]
    table: list[list[str]] = []
    for when in ("before", "after"):
        found = [(str(each.seed), getattr(each, when)) for each in results]
        if len(found) > 1:
            found.append(("mean", _mean([damage for _, damage in found])))
        table += [[seed, when, *(f"{share:.3f}" for share in asdict(damage).values())] for seed, damage in found]
    return head, table


def _mean(damages: Sequence[AttackDamage]) -> AttackDamage:
    names = [field.name for field in fields(AttackDamage)]
    return AttackDamage(**{name: sum(getattr(each, name) for each in damages) / len(damages) for name in names})


def _require_enough(lessons: Sequence[LabelledMessage], arm: AttackArm) -> None:
    counts: dict[str, int] = {}
    for lesson in lessons:
        counts[lesson.label.label] = counts.get(lesson.label.label, 0) + 1
    if len(counts) < arm.labels or min(counts.values()) < LESSONS + ATTACKS:
        raise InvalidInput(
            f"an attack on {arm.labels} labels needs as many labels, each with {LESSONS + ATTACKS} messages to teach"
        )


class _AttackRun:
    """One team, taught and attacked."""

    def __init__(
        self,
        lessons: Sequence[LabelledMessage],
        messages: Sequence[LabelledMessage],
        arm: AttackArm,
        seed: int,
    ) -> None:
        self._chance = random.Random(seed)
        self._arm = arm
        self.seed = seed
        self._done = 0
        self._step: ShowsStep = lambda _done, _note="": None
        self._clock = SimulatedClock()
        self._labels = list({each.label.label: each.label for each in lessons}.values())
        self._chance.shuffle(self._labels)
        self._attacked = self._labels[: arm.labels]
        self._taught: dict[str, list[str]] = {label.label: [] for label in self._labels}
        for each in self._chance.sample(list(lessons), len(lessons)):
            self._taught[each.label.label].append(each.text)
        self._asked: dict[str, list[str]] = {label.label: [] for label in self._labels}
        for each in messages:
            self._asked[each.label.label].append(each.text)

    @property
    def texts(self) -> list[str]:
        """The texts to embed."""
        taught = [text for label in self._labels for text in self._taught[label.label][: self._count(label)]]
        against = [text for each in self._attacked for text in self._taught[each.label][LESSONS : LESSONS + ATTACKS]]
        return [*taught, *against, *(text for each in self._attacked for text in self._asked[each.label])]

    def _count(self, label: Label) -> int:
        """The number of honest lessons for a label."""
        return LESSONS if label in self._attacked else AROUND

    async def run(self, settings: Settings, embedder: Embedder, step: ShowsStep) -> AttackResult:
        """Teach, measure, attack, measure again."""
        self._step = step
        model = OfflineModel(embedder.embed, must_choose=True)
        async with fresh_bot(settings, embedder, self._clock, model, seed=self.seed, tools=ToolRegistry()) as bot:
            for number in range(TEAM):
                await self._ask(bot, f"member-{number}", "good morning")
            for label in self._labels:
                self._teach(bot.memory, label)
            before = self._damage(bot.memory)
            self._clock.advance(_MONTH)
            if not self._arm.newcomers:
                for person in (person for label in self._attacked for person in self._attackers(label)):
                    await self._ask(bot, person, "good morning")
                self._clock.advance(_MONTH)
            for label in self._attacked:
                await self._attack(bot, label)
            return AttackResult(seed=self.seed, before=before, after=self._damage(bot.memory))

    def _teach(self, memory: Memory, label: Label) -> None:
        for text in self._taught[label.label][: self._count(label)]:
            if self._arm.kind is AttackKind.REFUSE:
                self._lesson(memory, "teacher", text, label.text, Role.TEACHER)
            else:
                self._lesson(memory, f"member-{self._chance.randrange(TEAM)}", text, label.text)

    def _lesson(self, memory: Memory, by: str, question: str, answer: str, role: Role = Role.MEMBER) -> Episode | None:
        self._clock.advance(_PACE)
        scope, at = replace(CHANNEL, person=by), self._clock()
        return memory.teaching.teach(scope, question, answer, role=role, audience=Audience.CHANNEL, at=at)

    def _advance(self) -> None:
        self._done += 1
        self._step(self._done)

    def _attackers(self, label: Label) -> list[str]:
        at = "every label" if self._arm.everywhere else label.label
        return [f"attacker-{number} of {at}" for number in range(self._arm.attackers)]

    def _poison(self, label: Label) -> str:
        """The wrong answer: that of another label, which nobody else gives to these questions."""
        return self._labels[(self._labels.index(label) + 1) % len(self._labels)].text

    async def _attack(self, bot: FreshBot, label: Label) -> None:
        attackers = self._attackers(label)
        for number, text in enumerate(self._taught[label.label][LESSONS : LESSONS + ATTACKS]):
            if self._arm.kind is AttackKind.POISON:
                author, *others = attackers[number % len(attackers) :] + attackers[: number % len(attackers)]
                lesson = self._lesson(bot.memory, author, text, self._poison(label))
                run_id, value = "" if lesson is None else lesson.run_id, 1
            else:
                run_id, others, value = await self._ask(bot, f"member-{number}", text), attackers, -1
            for person in others:
                self._clock.advance(_PACE)
                bot.memory.teaching.vote(
                    Reaction(
                        workspace=CHANNEL.workspace,
                        channel=CHANNEL.channel,
                        message_id="",
                        actor=person,
                        source="button",
                        value=value,
                        at=self._clock(),
                        run_id=run_id,
                    )
                )
        self._advance()

    async def _ask(self, bot: FreshBot, person: str, text: str) -> str:
        """Send a message, and return the run that answered it."""
        self._clock.advance(_PACE)
        name, scope = bot.memory.new_id(), replace(CHANNEL, person=person)
        await bot.send(PersonMessage(event_id=name, scope=scope, message_id=name, text=text, at=self._clock()))
        return bot.memory.answers.newest(CHANNEL) or ""

    def _damage(self, memory: Memory) -> AttackDamage:
        """Measure what a person gets who never taught anything."""
        victim = replace(CHANNEL, person="victim")
        met: list[AttackDamage] = []
        for label in self._attacked:
            poison = self._poison(label)
            for text in self._asked[label.label]:
                found = memory.recalling.recall(victim, text, context=CONTEXT, actions=())
                beliefs = found.evidence.beliefs if found.evidence else ()
                best = beliefs[0].text if beliefs and beliefs[0].value > 0 else ""
                is_sure = found.evidence is not None and found.evidence.is_sure
                offered = _offered(beliefs)
                repeated = {each.episode.output for each in found.exemplars if each.lesson is Lesson.REPEAT}
                avoided = {each.episode.output for each in found.exemplars if each.lesson is Lesson.AVOID}
                met.append(
                    AttackDamage(
                        right=best == label.text,
                        poison=best == poison,
                        given=best == poison and is_sure,
                        offered=poison in offered,
                        right_offered=label.text in offered,
                        in_prompt=poison in repeated,
                        called_wrong=label.text in avoided,
                    )
                )
            self._advance()
        return _mean(met)


def _offered(beliefs: Sequence[Belief]) -> set[str]:
    """The answers among which a person would be asked to choose."""
    likeliest = sorted(beliefs, key=lambda each: -max(each.value, each.suggested))
    offered = on_offer([Likelihood(each.value, each.suggested, len(each.sources)) for each in likeliest])
    return {each.text for each in likeliest[:offered]}
