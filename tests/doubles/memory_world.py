"""A small world for tests: memory on doubles, a clock that is told when to move, and people who ask and react."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from memory.adapters.embedding import HashingEmbedder
from memory.adapters.secrets import FormatFinder
from memory.adapters.sql import SqlStore
from memory.adapters.system import TimeOrderedIds
from memory.model import (
    Episode,
    Incoming,
    Outgoing,
    Reaction,
    Role,
    Scope,
    Step,
    StepKind,
    TeachingPolicy,
    Termination,
    Visibility,
)
from memory.model.evidence import ActionText
from memory.ports import Embedder, Store
from memory.rules.retrieval.config import RetrievalConfig
from memory.services import FinishedRun, Memory, UsedLesson, VoteResult
from memory.services.conversation.answers import askers_of, root_behind
from memory.services.embedders import EmbedderNamed
from memory.services.recording.used_lessons import used_in

START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
VALUES = {"👍": 1, "👎": -1}


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def tick(self, **by: float) -> datetime:
        self.now += timedelta(**(by or {"seconds": 1}))
        return self.now


def scope(
    person: str = "ana",
    *,
    workspace: str = "terminal:w",
    channel: str = "c1",
    visibility: Visibility = Visibility.PUBLIC,
) -> Scope:
    return Scope(workspace=workspace, channel=channel, person=person, visibility=visibility, place=f"#{channel}")


class World:
    """Memory with a fake clock, and the shortest way to each thing a person does."""

    def __init__(
        self,
        store: Store | None = None,
        config: RetrievalConfig | None = None,
        embedder: Embedder | None = None,
        *,
        ledger_days: int = 30,
        policy: TeachingPolicy | None = None,
        embedder_named: EmbedderNamed = lambda name: None,
    ) -> None:
        self.clock = FakeClock()
        self.actions: Sequence[ActionText] | None = None
        """What the agent may choose; with it there is evidence."""
        self.action = ""
        """What the agent does instead of answering or expanding."""
        self.ids = TimeOrderedIds(self.clock, random.Random(7).getrandbits)
        self.memory = Memory(
            store or SqlStore.in_memory(),
            embedder or HashingEmbedder(),
            clock=self.clock,
            new_id=self.ids,
            ledger_days=ledger_days,
            policy=policy,
            secrets=FormatFinder(),
            embedder_named=embedder_named,
            retrieval=config
            or RetrievalConfig(
                env_threshold=0.0, top_k=None, final_k=4, min_intent=0.3, max_per_author=1, consensus=True
            ),
        )

    def ask(
        self,
        goal: str,
        answer: str = "an answer",
        *,
        of: Scope | None = None,
        children: Sequence[tuple[str, Termination]] = (),
        termination: Termination = Termination.SUCCESS,
        message_id: str = "",
        parts: int = 1,
        asked_by: str = "",
        action: str = "",
        understood: str = "",
    ) -> Episode:
        """A person asks, the agent answers with an optional set of child nodes, and the answer is posted."""
        asker = of or scope()
        self.clock.tick()
        run_id, event_id = self.ids(), self.ids()
        self.memory.recording.accept(
            Incoming(scope=asker, event_id=event_id, message_id=event_id, text=goal, at=self.clock(), asked_by=asked_by)
        )
        root = self._node(asker, run_id, goal, answer, termination if not children else Termination.EXPAND, "0", "")
        root = replace(root, action=action) if action else root
        nodes = [root]
        for number, (subgoal, ending) in enumerate(children):
            path = f"0.{number}"
            nodes.append(self._node(asker, run_id, subgoal, f"{answer} {number}", ending, path, root.id, number + 2))
        recalls = []
        for node in nodes:
            recollection = self.memory.recalling.recall(asker, node.goal, run_id=run_id, actions=self.actions)
            shown_ids = tuple(exemplar.episode.id for exemplar in recollection.exemplars)
            recalls.append(replace(recollection, node_path=node.node_path, shown_ids=shown_ids))
        self.memory.recording.finish(
            FinishedRun(
                workspace=asker.workspace,
                run_id=run_id,
                event_id=event_id,
                nodes=nodes,
                recalls=recalls,
                parts=[answer] * parts,
                channel=asker.channel,
                embedding_model=self.memory.embedder.name,
                asked_by=asked_by,
                understood=understood,
            )
        )
        for part in range(1, parts + 1):
            posted = message_id or f"m-{run_id}"
            self.memory.recording.sent(asker.workspace, run_id, part, posted if part == 1 else f"{posted}/{part}")
        return self.episode(root)

    def lessons_used(self, answer: Episode) -> tuple[UsedLesson, ...]:
        """The remembered lessons that an answer rests on, most relevant first."""
        with self.memory.store.read() as tx:
            return used_in(tx, answer.workspace, answer.run_id)

    def retry(self, episode: Episode, answer: str, *, of: Scope) -> Episode:
        """Somebody wants the question behind a posted answer tried again."""
        here = replace(of, channel=episode.channel, visibility=episode.visibility)
        with self.memory.store.read() as tx:
            root = root_behind(tx, here, f"m-{episode.run_id}", self.clock())
            assert root is not None
            asker = askers_of(tx, root)[0]
        return self.ask(root.goal, answer, of=of, asked_by=asker if asker != of.person else "")

    def _node(
        self,
        asker: Scope,
        run_id: str,
        goal: str,
        answer: str,
        termination: Termination,
        path: str,
        parent: str,
        number: int = 1,
    ) -> Episode:
        return Episode(
            id=self.ids(),
            run_id=run_id,
            parent_id=parent,
            node_path=path,
            step_number=number,
            goal=goal,
            workspace=asker.workspace,
            channel=asker.channel,
            thread=asker.thread,
            person=asker.person,
            author=asker.person,
            visibility=asker.visibility,
            place=asker.place,
            action=self.action or ("answer" if termination is not Termination.EXPAND else "expand"),
            action_target=goal,
            output=answer,
            termination=termination,
            trajectory=(Step(kind=StepKind.ACT, text=answer),),
            model="test",
            created_at=self.clock(),
        )

    def react(
        self,
        episode: Episode,
        emoji: str = "👍",
        *,
        by: str = "ana",
        role: Role = Role.MEMBER,
        added: bool = True,
        at: datetime | None = None,
        event_id: str = "",
        message_id: str = "",
        channel: str = "",
    ) -> VoteResult:
        """A person reacts to the first part of an answer."""
        self.clock.tick()
        reaction = self.reaction(
            episode, emoji, by=by, role=role, added=added, at=at, message_id=message_id, channel=channel
        )
        return self.memory.teaching.react(reaction, event_id=event_id or self.ids())

    def reaction(
        self,
        episode: Episode,
        emoji: str = "👍",
        *,
        by: str = "ana",
        role: Role = Role.MEMBER,
        added: bool = True,
        at: datetime | None = None,
        message_id: str = "",
        channel: str = "",
    ) -> Reaction:
        """What a messenger reports of it."""
        return Reaction(
            workspace=episode.workspace,
            channel=channel or episode.channel,
            message_id=message_id or f"m-{episode.run_id}",
            actor=by,
            source=f"emoji:{emoji}",
            value=VALUES[emoji],
            at=at or self.clock(),
            role=role,
            is_active=added,
        )

    def episode(self, episode: Episode) -> Episode:
        """The episode as it is stored now."""
        with self.memory.store.read() as tx:
            found = tx.episodes.get(episode.workspace, episode.id)
        assert found is not None, episode.id
        return found

    def nodes(self, episode: Episode) -> list[Episode]:
        """Every node of the episode's run, the root first."""
        with self.memory.store.read() as tx:
            return tx.episodes.of_run(episode.workspace, episode.run_id)

    def outgoing(self, episode: Episode) -> list[Outgoing]:
        """What was posted of the episode's answer."""
        with self.memory.store.read() as tx:
            return tx.deliveries.outgoing(episode.workspace, episode.run_id)

    def recalled(self, goal: str, of: Scope | None = None) -> list[str]:
        """The ids of what this person would be reminded of, best first."""
        recollection = self.memory.recalling.recall(of or scope(), goal)
        return [exemplar.episode.id for exemplar in recollection.exemplars]

    def correct(self, episode: Episode, text: str, *, by: str = "ana", role: Role = Role.MEMBER) -> Episode:
        """A person says what would have been right; returns the lesson."""
        self.clock.tick()
        outcome = self.memory.teaching.correct(
            scope(by, workspace=episode.workspace, channel=episode.channel, visibility=episode.visibility),
            episode.run_id,
            text,
            role=role,
            at=self.clock(),
        )
        assert outcome is not None
        return outcome.lesson
