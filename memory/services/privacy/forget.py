"""A person's data: an overview, a copy, and its erasure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime

from memory.errors import InvalidInput
from memory.model import (
    Episode,
    EventKind,
    GradeSource,
    Incoming,
    Reaction,
    ShortMemory,
    StoredGrade,
    StoredStep,
    Visibility,
)
from memory.model.topic import Revision, Topic
from memory.model.upkeep import Erasure
from memory.model.validation import require_text, require_whole
from memory.ports import EpisodeFilter, NewId, Transaction
from memory.rules.audience import visibility_of
from memory.services.conversation.reminders import erase_in_words_of_others
from memory.services.core import ALL, Core, event_of_workspace
from memory.services.privacy.erasing import erase_rules, erase_run, note_heeded_warnings, overwrite_erased
from memory.services.privacy.quotation import answers_repeating_questions, answers_repeating_words, replies_about
from memory.services.recall.confusion import ConfusionEstimate
from memory.services.recall.visible_corrections import as_seen_by
from memory.services.teaching.restate import in_words_of, part_from_asker
from memory.services.topics.erase import erase_person as erase_topics
from memory.services.verdicts.archive import merged_into, unmerge
from memory.services.verdicts.quarantine import restore_text, restore_texts
from memory.services.verdicts.tally import erase_judgements, runs_of_voters, runs_with_changed_standing
from memory.services.verdicts.verdicts import refold


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalData:
    """What is stored about one person in one workspace."""

    episodes: tuple[Episode, ...]
    """The nodes of the answers to their own questions, and the lessons they wrote."""
    derived: tuple[Episode, ...]
    """Answers to others that contain their words: their question was tried again, or the answer used their lessons."""
    messages: tuple[Incoming, ...]
    reactions: tuple[Reaction, ...]
    topics: tuple[Topic, ...] = ()
    """The topics that they brought up."""
    values: tuple[Revision, ...] = ()
    """The values they gave to fields of topics, others' topics too."""
    steps: tuple[StoredStep, ...] = ()
    """The journals of their runs, which are stored beside the episodes."""
    grades: tuple[StoredGrade, ...] = ()
    """The grades they gave to steps, and a model's grades of their answers."""
    short: tuple[ShortMemory, ...] = ()
    """Their short memories, which expire."""
    welcomed_at: datetime | None = None
    """When the bot welcomed them; None if it has not."""
    kept: tuple[Episode, ...] = ()
    """Lessons of others about their questions, which stay after an erasure, without their words."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is stored."""
        return not any(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedCounts:
    """The numbers of what was erased."""

    episodes: int
    derived: int
    messages: int
    reactions: int
    kept: int = 0
    """The lessons of others that stayed, without the person's words."""


def require_person(person: str) -> None:
    """Raise `InvalidInput` for an empty person, as a search by no person finds what everybody said."""
    if not require_text(person, "person"):
        raise InvalidInput("an empty name is nobody's; say whose data it is about")


@dataclass(frozen=True, slots=True)
class Privacy:
    """The use cases of a person's data: show, copy, erase."""

    _core: Core

    @property
    def _estimate(self) -> ConfusionEstimate:
        return ConfusionEstimate.of(self._core)

    def personal_data(self, workspace: str, person: str) -> PersonalData:
        """Everything stored about the person in this workspace. Raises `InvalidInput` for an empty person."""
        with self._core.store.read() as tx:
            return self._personal_data(tx, workspace, person)

    def counts(self, workspace: str, person: str) -> dict[str, int]:
        """The numbers of what is stored in their name, by the field names of `PersonalData`. Fast for any amount.

        `derived` is left out, because it takes a search; of the grades only those that they gave are counted.
        """
        with self._core.store.read() as tx:
            return tx.people.held(workspace, person)

    def copy(self, workspace: str, person: str) -> PersonalData:
        """The data as a copy for the person: of others' words, only what the person may see where they were said.

        Raises `InvalidInput` for an empty person.
        """
        with self._core.store.read() as tx:
            held = self._personal_data(tx, workspace, person)
            topics = tx.topics.get_many(workspace, {value.topic_id for value in held.values})
            names = {topic.id: topic.public_id for topic in (*held.topics, *topics.values())}
            return replace(
                held,
                episodes=tuple(_as_shown(tx, person, held.episodes)),
                topics=tuple(_named(topic, names) for topic in held.topics),
                values=tuple(
                    replace(value, topic_id=names.get(value.topic_id, value.topic_id)) for value in held.values
                ),
            )

    def _personal_data(self, tx: Transaction, workspace: str, person: str) -> PersonalData:
        require_person(person)
        every = EpisodeFilter(include_archived=True, limit=None)
        theirs = (replace(every, person=person), replace(every, author=person))
        found = {episode.id: None for wanted in theirs for episode in tx.episodes.search(workspace, wanted)}
        kept, answers = in_words_of(tx, workspace, person, found)
        own = [each for each in found if each not in set(kept)]
        asked = set(own) - tx.episodes.words_of_others(workspace, own).keys()
        quoted = answers_repeating_questions(tx, workspace, [*asked, *kept], {*own, *answers})
        repeated = answers_repeating_words(tx, workspace, own, [*answers, *quoted])
        whole = tx.episodes.get_many(workspace, [*own, *repeated, *kept])
        graded = [each for grades in tx.steps.grades(workspace, own).values() for each in grades]
        guesses = [each for each in graded if each.grade.source is GradeSource.MODEL]
        return PersonalData(
            episodes=tuple(whole[each] for each in own),
            derived=tuple(whole[each] for each in repeated),
            kept=tuple(whole[each] for each in kept),
            messages=tuple(tx.deliveries.messages_of(workspace, "", person, ALL)),
            reactions=tuple(tx.teaching.reactions_by(workspace, person)),
            topics=tuple(tx.topics.of_person(workspace, person)),
            values=tuple(tx.topics.revisions_by(workspace, person)),
            steps=tuple(tx.steps.of_person(workspace, person)),
            grades=(*tx.steps.grades_by(workspace, person), *guesses),
            short=tuple(tx.short.of_person(workspace, person)),
            welcomed_at=tx.people.welcomed_at(workspace, person),
        )

    def people(self, workspace: str, *, after: str = "", limit: int) -> list[str]:
        """The people of whom anything is stored, in alphabetical order, starting after `after`."""
        require_whole(limit, "limit")
        with self._core.store.read() as tx:
            return tx.people.listed(workspace, after=after, limit=limit)

    def forget(self, workspace: str, person: str, *, actor: str = "") -> ErasedCounts:
        """Erase the person's data in one transaction, leaving a tombstone event without personal data.

        Verdicts of what others keep are computed anew without the person's acts. Lessons that others wrote stay,
        without the person's words (`memory.services.teaching.restate`). Then the database's free space is overwritten,
        so that no byte of the person's text remains in its files. After a crash, `finish` completes the erasure.
        `actor` is who asked for it, if not the person. Raises `InvalidInput` for an empty person.
        """
        require_person(person)
        erasure = Erasure(workspace=workspace, id=self._core.new_id(), person=person)
        with self._core.store.write() as tx:
            tx.upkeep.put_erasure(erasure)
        erased = self._erase(erasure, actor)
        overwrite_erased(self._core.store)
        return erased

    def finish(self) -> int:
        """Complete the erasures that an earlier process left unfinished. Returns their number."""
        with self._core.store.read() as tx:
            left = tx.upkeep.erasures()
        for erasure in left:
            if erasure.person:
                self._erase(erasure)
        if left:
            overwrite_erased(self._core.store)
        return len(left)

    def _erase(self, erasure: Erasure, actor: str = "") -> ErasedCounts:
        workspace, person = erasure.workspace, erasure.person
        now = self._core.clock()
        with self._core.store.write() as tx:
            if erasure not in tx.upkeep.erasures():  # another process has finished it
                return ErasedCounts(episodes=0, derived=0, messages=0, reactions=0)
            held = self._personal_data(tx, workspace, person)
            touched_runs = {reaction.run_id for reaction in held.reactions if reaction.run_id}
            doomed = [*held.episodes, *held.derived]
            gone = {episode.run_id for episode in doomed}
            erased_ids = [episode.id for episode in doomed]
            kept_ids = [lesson.id for lesson in held.kept]
            merged = merged_into(tx, workspace, [*erased_ids, *kept_ids])
            note_heeded_warnings(tx, workspace, erased_ids)
            replies = replies_about(tx, workspace, [*held.derived, *held.kept])
            replaced = part_from_asker(self._core, tx, person, held.kept, erased_ids, now)
            # Read only now, so that those of lessons just moved are included.
            touched_runs |= runs_of_voters(tx, workspace, {*gone, *(lesson.run_id for lesson in held.kept)})
            gone |= {lesson.run_id for lesson in held.kept if lesson.id in replaced}
            tx.retrievals.delete_runs(workspace, gone)
            replies += erase_in_words_of_others(tx, workspace, {each.run_id for each in held.derived})
            tx.deliveries.delete_runs(workspace, {*gone, *replies})
            tx.deliveries.drop_repeats(workspace, gone)
            erase_rules(tx, workspace, [*erased_ids, *replaced])
            tx.episodes.delete(workspace, [*erased_ids, *replaced])
            _erase_in_name_of(tx, workspace, person, now, self._core.new_id)
            taught_from = tx.people.known_people(workspace, ()).taught_from
            tx.teaching.delete_runs(workspace, gone)
            touched_runs |= runs_with_changed_standing(tx, workspace, taught_from)
            erase_judgements(tx, workspace, gone, self._core.policy.error_budget)
            had_estimate = self._estimate.drop(tx, workspace)
            self._refold(tx, workspace, person, touched_runs - gone, now)
            unmerge(tx, workspace, merged, now, changed=kept_ids)
            erased = ErasedCounts(
                episodes=len(held.episodes),
                derived=len(held.derived),
                messages=len(held.messages),
                reactions=len(held.reactions),
                kept=len(held.kept),
            )
            counts = {"episodes": erased.episodes, "derived": erased.derived, "messages": erased.messages}
            tx.log.append(event_of_workspace(workspace, EventKind.FORGOTTEN, actor, now, counts))
            tx.upkeep.put_erasure(replace(erasure, person=""))
        if had_estimate:
            self._estimate.update_without(workspace)
        return erased

    def _refold(self, tx: Transaction, workspace: str, person: str, touched_runs: set[str], now: datetime) -> None:
        """Delete the person's acts from the log, and compute what others keep anew from the remaining events."""
        about = tx.episodes.get_many(workspace, tx.log.erase_actor(workspace, person))
        refold(tx, workspace, touched_runs | {each.run_id for each in about.values()}, self._core.policy)
        # Without their latest correction, an earlier one that was undone would count as the latest.
        for episode in tx.episodes.get_many(workspace, sorted(about)).values():
            restore_text(tx, episode, "", now)
            restore_texts(tx, episode, "", now)

    def erase_run(self, workspace: str, run_id: str, *, actor: str = "") -> int:
        """Erase one question with its answer, its recalls and votes. Returns the number of episodes.

        A correction is erased from the answers that it corrected, too, and from the message in which it was written;
        lessons and answers to others that repeat it stay. With an `actor`, the act is logged.
        """
        with self._core.store.write() as tx:
            erased = erase_run(self._core, tx, workspace, run_id)
            had_estimate = self._estimate.drop(tx, workspace)
            if erased and actor:
                now, counts = self._core.clock(), {"episodes": erased}
                tx.log.append(event_of_workspace(workspace, EventKind.FORGOTTEN, actor, now, counts))
        if had_estimate:
            self._estimate.update_without(workspace)
        overwrite_erased(self._core.store)
        return erased


def _erase_in_name_of(tx: Transaction, workspace: str, person: str, now: datetime, new_id: NewId) -> None:
    """Erase what is stored under the person's name beside episodes: messages, reactions, topics, grades, settings."""
    tx.deliveries.delete_by(workspace, person)
    tx.teaching.delete_reactions(workspace, person)
    erase_topics(tx, workspace, person, now, new_id)
    tx.steps.erase_grades(workspace, person)
    tx.steps.delete_runs(workspace, person)
    tx.short.delete_by(workspace, person)
    tx.settings.erase_person(workspace, person)
    tx.api_keys.erase_person(workspace, person)
    tx.batches.erase_person(workspace, person)
    tx.people.forget(workspace, person)


def _as_shown(tx: Transaction, person: str, episodes: Sequence[Episode]) -> list[Episode]:
    """The episodes as the person may see them, where they were said."""
    places: dict[tuple[str, Visibility], list[Episode]] = {}
    for episode in episodes:
        places.setdefault((episode.channel, visibility_of(episode)), []).append(episode)
    shown: dict[str, Episode] = {}
    for (_, visibility), of_place in places.items():
        reader = replace(of_place[0].scope, person=person, visibility=visibility)
        shown |= {episode.id: episode for episode in as_seen_by(tx, reader, of_place)}
    return [shown[episode.id] for episode in episodes]


def _named(topic: Topic, names: Mapping[str, str]) -> Topic:
    """The topic under the ids that people chose, instead of the store's own."""
    return replace(topic, id=topic.public_id, alias="", merged_into=names.get(topic.merged_into, topic.merged_into))
