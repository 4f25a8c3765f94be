"""A person's data: what there is, a copy of it, and its erasure."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from memory.model import (
    Episode,
    Event,
    EventKind,
    GradeSource,
    Incoming,
    LinkKind,
    Reaction,
    ShortMemory,
    Signal,
    StoredGrade,
    StoredStep,
    TeachingPolicy,
)
from memory.model.world import Revision, Topic
from memory.ports import EpisodeFilter, Transaction
from memory.service.archive import joined_to, part
from memory.service.core import Core
from memory.service.holding import restore_text, restore_texts
from memory.service.tallying import refold, runs_of_voters
from memory.world.merging import erase_person as erase_topics


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """What is stored about one person in one workspace."""

    episodes: tuple[Episode, ...]
    """Their own questions with every node of the answers, and the lessons they wrote."""
    derived: tuple[Episode, ...]
    """Episodes of others that repeat their words: corrections of their answers, answers that rest on their lessons."""
    messages: tuple[Incoming, ...]
    reactions: tuple[Reaction, ...]
    topics: tuple[Topic, ...] = ()
    """What they brought up."""
    values: tuple[Revision, ...] = ()
    """Every value they gave to a field, in topics of others too."""
    steps: tuple[StoredStep, ...] = ()
    """What their runs noted step by step, beside the episodes."""
    grades: tuple[StoredGrade, ...] = ()
    """Every grade they gave to a step, and what a model said of their answers."""
    short: tuple[ShortMemory, ...] = ()
    """What is kept for a while only."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing at all."""
        said = (self.episodes, self.derived, self.messages, self.reactions, self.topics, self.values)
        return not any((*said, self.steps, self.grades, self.short))


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """How much was erased, without a word of what."""

    episodes: int
    derived: int
    messages: int
    reactions: int


_REPEATS = (Signal.USED, Signal.CONTRADICTED)

_ALL = 1_000_000
"""More than anybody has."""


class Privacy:
    """Use cases of a person's right to see and to erase."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def holdings(self, workspace: str, person: str) -> Holdings:
        """Everything stored about the person in this workspace."""
        with self._core.store.read() as tx:
            return self._holdings(tx, workspace, person)

    def _holdings(self, tx: Transaction, workspace: str, person: str) -> Holdings:
        every = EpisodeFilter(include_archived=True, limit=None)
        theirs = (replace(every, person=person), replace(every, author=person))
        own = {episode.id: None for wanted in theirs for episode in tx.episodes.search(workspace, wanted)}
        repeated = _repeating(tx, workspace, own)
        whole = tx.episodes.get_many(workspace, [*own, *repeated])
        return Holdings(
            episodes=tuple(whole[each] for each in own),
            derived=tuple(whole[each] for each in repeated),
            messages=tuple(tx.deliveries.said_by(workspace, "", person, _ALL)),
            reactions=tuple(tx.teaching.reactions_by(workspace, person)),
            topics=tuple(tx.world.of_person(workspace, person)),
            values=tuple(tx.world.revisions_by(workspace, person)),
            steps=tuple(tx.steps.of_person(workspace, person)),
            grades=(*tx.steps.grades_by(workspace, person), *_guesses(tx, workspace, own)),
            short=tuple(tx.short.of_person(workspace, person)),
        )

    def forget(self, workspace: str, person: str) -> Erased:
        """Erase all of it in one transaction, refold what others keep, and leave a tombstone without personal data.

        Afterwards the database's free space is overwritten, so that no byte of the person's text remains in its files.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            held = self._holdings(tx, workspace, person)
            touched_runs = {reaction.run_id for reaction in held.reactions if reaction.run_id}
            doomed = [*held.episodes, *held.derived]
            gone = {episode.run_id for episode in doomed}
            touched_runs |= runs_of_voters(tx, workspace, gone)
            tx.retrievals.delete_runs(workspace, {episode.run_id for episode in doomed})
            tx.deliveries.delete_runs(workspace, {episode.run_id for episode in doomed})
            erased_ids = [episode.id for episode in doomed]
            _erase_rules(tx, workspace, erased_ids)
            parted = joined_to(tx, workspace, erased_ids)
            tx.episodes.delete(workspace, erased_ids)
            tx.deliveries.delete_by(workspace, person)
            tx.teaching.delete_reactions(workspace, person)
            erase_topics(tx, workspace, person, now, self._core.new_id)
            tx.steps.erase_grades(workspace, person)
            tx.steps.delete_runs(workspace, person)
            tx.short.delete_by(workspace, person)
            tx.teaching.delete_runs(workspace, {episode.run_id for episode in doomed})
            touched: set[str] = set()
            for episode_id in tx.log.erase_actor(workspace, person):
                episode = tx.episodes.get(workspace, episode_id)
                if episode is not None:
                    touched_runs.add(episode.run_id)
                    touched.add(episode_id)
            refold(tx, workspace, touched_runs - gone, self._core.policy)
            # Without their last word on a correction, one that was taken back before would be the last.
            for episode in tx.episodes.get_many(workspace, sorted(touched)).values():
                restore_text(tx, episode, "", now)
                restore_texts(tx, episode, "", now)
            part(tx, workspace, parted, now)
            erased = Erased(
                episodes=len(held.episodes),
                derived=len(held.derived),
                messages=len(held.messages),
                reactions=len(held.reactions),
            )
            counts = {"episodes": erased.episodes, "derived": erased.derived, "messages": erased.messages}
            tx.log.append(
                Event(workspace=workspace, episode_id="", kind=EventKind.FORGOTTEN, actor="", at=now, detail=counts)
            )
        self._core.store.erase_free_space()
        return erased

    def erase_run(self, workspace: str, run_id: str) -> int:
        """Erase one answer with all its episodes, recalls and votes, but not the question. Returns how many nodes."""
        with self._core.store.write() as tx:
            erased = erase_run(tx, workspace, run_id, self._core.policy)
        self._core.store.erase_free_space()
        return erased


def erase_run(tx: Transaction, workspace: str, run_id: str, policy: TeachingPolicy) -> int:
    """Erase one answer as `Privacy.erase_run` does, and leave the free space of the files to the caller."""
    nodes = [node.id for node in tx.episodes.of_run(workspace, run_id)]
    tx.retrievals.delete_runs(workspace, [run_id])
    tx.deliveries.delete_runs(workspace, [run_id])
    touched = runs_of_voters(tx, workspace, [run_id]) - {run_id}
    tx.teaching.delete_runs(workspace, [run_id])
    _erase_rules(tx, workspace, nodes)
    erased = tx.episodes.delete(workspace, nodes)
    refold(tx, workspace, touched, policy)
    return erased


def _erase_rules(tx: Transaction, workspace: str, episode_ids: Collection[str]) -> None:
    """Erase the rules made of these lessons. Their next job makes anew what still holds."""
    every = tx.upkeep.rules(workspace)
    kept = [rule for rule in every if not set(rule.lesson_ids) & set(episode_ids)]
    if len(kept) != len(every):
        tx.upkeep.set_rules(workspace, kept)


def _guesses(tx: Transaction, workspace: str, own: Collection[str]) -> list[StoredGrade]:
    graded = tx.steps.grades(workspace, own)
    return [each for grades in graded.values() for each in grades if each.grade.source is GradeSource.MODEL]


def _repeating(tx: Transaction, workspace: str, own: Collection[str]) -> list[str]:
    """Other episodes that hold a person's words.

    Corrections of their answers, which have their question; answers that rest on theirs, those that rest on these, and
    so on.
    """
    found: dict[str, None] = {}
    said = list(own)
    while said:
        repeating = [node.id for each in said for node in _resting_on(tx, workspace, each)]
        said = [each for each in dict.fromkeys(repeating) if each not in found and each not in own]
        found |= dict.fromkeys(said)
    for link in tx.episodes.links(workspace, own):
        if link.kind is LinkKind.CORRECTS and link.to_id in own and link.from_id not in own:
            found[link.from_id] = None
    return list(found)


def _resting_on(tx: Transaction, workspace: str, episode_id: str) -> list[Episode]:
    """Every node of the answers that hold an episode's words: they used it, or repeated the mistake it warns of."""
    shown = tx.retrievals.of_episode(workspace, episode_id, limit=_ALL)
    used = {retrieval.run_id for retrieval, item in shown if item.signal in _REPEATS}
    return [node for run_id in sorted(used) for node in tx.episodes.of_run(workspace, run_id)]
