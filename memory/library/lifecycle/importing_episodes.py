"""Imports episodes of an export into one person's memory, in bulk.

They keep whose words they are, if they come from the same workspace, so that this person's forgetting reaches them.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from memory.library.episodic import EpisodicMemory
from memory.library.import_ import content_hash
from memory.library.lifecycle.grades import vote_of
from memory.model import (
    Episode,
    EpisodeStatus,
    EventKind,
    LinkKind,
    Origin,
    Role,
    Scope,
    Termination,
    Vector,
    Verdict,
    Verdicts,
    Visibility,
    Vote,
)
from memory.ports import Transaction
from memory.rules.audience import nearest_entry, partitions_for
from memory.rules.evidence.judged_lesson import ANSWER
from memory.rules.fold import replaced, unjudged
from memory.rules.quarantine import flags_of
from memory.services.conversation.word_authors import people_behind, runs_with_lessons
from memory.services.core import answer_authors, event
from memory.services.teaching.new_episodes import NewEpisode, record_new
from memory.services.teaching.sources import Sources
from memory.services.verdicts.quarantine import quarantine_events
from memory.services.verdicts.verdicts import settle_joined

AT_ONCE = 1_000
"""The most episodes that are read and written together."""

_AHEAD = timedelta(minutes=5)
"""The most that another machine's clock may be ahead."""

_ID_DIGITS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A new episode with its id and parent here."""

    given: Episode
    id: str
    parent_id: str


@dataclass
class EpisodeImport:
    """One import, in one transaction."""

    tx: Transaction
    episodic: EpisodicMemory
    vectors: Mapping[str, Vector]
    """Embeddings by goal."""
    _renamed: dict[str, str] = field(default_factory=dict[str, str])
    """Stored ids by those in the file."""

    def add(self, given: Sequence[Episode]) -> list[bool]:
        """Store episodes as this person's. Whether each is new; False if it is stored already."""
        placed = self._placed([*map(_completed, given)])
        new = [each for each in placed if each is not None]
        runs = _Runs(self.tx, self.episodic, new)
        sources = _sources(self.tx, self.episodic.scope, [each.given for each in new])
        made = [self._new(each, runs.run_id(each), sources.get(each.given.id, Sources())) for each in new]
        core, scope = self.episodic.memory.core, self.episodic.scope
        record_new(core, self.tx, made, runs.nodes)
        for run_id in sorted(runs.votes.keys() & {each.episode.run_id for each in made}):
            settle_joined(core, self.tx, scope.workspace, run_id, scope.person)
        return [each is not None for each in placed]

    def _placed(self, given: Sequence[Episode]) -> list[_Placed | None]:
        """The new episodes with their ids; None for those that are stored already."""
        scope = self.episodic.scope
        digests = [content_hash(each) for each in given]
        sender_key, session_key = scope.sender_key, scope.session_key
        copies = [own_id(sender_key, digest) for digest in digests]
        stored = self.tx.episodes.get_many(scope.workspace, {*(each.id for each in given), *copies} - {""})
        mine = {each.id: content_hash(each) for each in stored.values() if each.scope.session_key == session_key}
        lessons = self._lessons_of_others([each for each in stored.values() if each.id not in mine])
        taken = set(stored)
        placed: list[_Placed | None] = []
        for each, digest, copy_id in zip(given, digests, copies, strict=True):
            if (each.id, digest, each.verdict) in lessons and copy_id not in taken:
                placed.append(None)
                continue
            is_same = bool(each.id) and mine.get(each.id) == digest
            is_copied = copy_id in taken
            is_kept = bool(each.id) and self._is_past(each.created_at)
            is_free = is_kept and (each.id not in taken or is_same) and not is_copied
            episode_id = each.id if is_free else copy_id
            # Before this id is added: no episode is its own parent, and one without a known parent is a root.
            parent_id = self._renamed.get(each.parent_id, "") if each.parent_id else ""
            self._renamed[each.id] = episode_id
            if is_same or is_copied:
                placed.append(None)
                continue
            taken.add(episode_id)
            mine[episode_id] = digest
            placed.append(_Placed(given=each, id=episode_id, parent_id=parent_id))
        return placed

    def _lessons_of_others(self, stored: Sequence[Episode]) -> set[tuple[str, str, Verdict]]:
        """Id, content and verdict of other people's lessons that this person is shown: a copy of one is no other."""
        here = partitions_for(self.episodic.scope)
        found = [(each, nearest_entry(each, here)) for each in stored]
        return {(each.id, content_hash(each), entry.verdict) for each, entry in found if entry is not None}

    def _new(self, placed: _Placed, run_id: str, sources: Sources) -> NewEpisode:
        scope, given = self.episodic.scope, placed.given
        given = given if self._is_past(given.created_at) else replaced(given, created_at=self._now)
        at = given.graded_at if given.graded_at and self._is_past(given.graded_at) else given.created_at
        episode = unjudged(
            given,
            id=placed.id,
            run_id=run_id,
            parent_id=placed.parent_id,
            workspace=scope.workspace,
            channel=scope.channel,
            channel_visibility=self._readers,
            thread=scope.thread,
            person=scope.person,
            author=scope.person,
            visibility=scope.visibility,
            origin=Origin.IMPORT,
            exemplar_ids=(),
        )
        before = [
            event(episode, EventKind.CREATED, episode.author, episode.created_at, detail=sources.detail),
            *quarantine_events(episode, flags_of(episode), episode.created_at),
        ]
        if given.correction:
            before.append(event(episode, EventKind.CORRECTED, scope.person, at, detail={"text": given.correction}))
        is_right, reason = given.verdict is Verdict.SUCCESS, given.outcome_reason
        vote = vote_of(self.episodic, episode, is_right, scope.person, Role.MEMBER, at, reason)
        put_away = given.archived_at
        return NewEpisode(
            episode=episode,
            vector=self.vectors.get(given.goal),
            before=before,
            reactions=(vote,) if given.verdict.is_validated else (),
            words_of=sources.people,
            after=() if put_away is None else (event(episode, EventKind.ARCHIVED, scope.person, put_away),),
        )

    def _is_past(self, moment: datetime) -> bool:
        return is_past(moment, self._now)

    @cached_property
    def _now(self) -> datetime:
        return self.episodic.memory.clock()

    @cached_property
    def _readers(self) -> Visibility | None:
        """The present visibility of the person's channel, if known."""
        scope = self.episodic.scope
        channel = self.tx.channels.get(scope.workspace, scope.channel)
        return channel.visibility if channel else None


def is_past(moment: datetime, now: datetime) -> bool:
    """Whether a record's time can be kept, as one that was given and has come.

    With none it would be as old as what nobody used for years, with a later one newer than all that is said of it.
    """
    return 0 < moment.timestamp() <= (now + _AHEAD).timestamp()


def _completed(given: Episode) -> Episode:
    """The episode with what other programs leave out: that it is an answer, and the verdict behind its status."""
    if given.action and (given.verdict.is_validated or given.status is EpisodeStatus.PENDING):
        return given
    is_told = given.verdict is Verdict.PENDING and given.status is not EpisodeStatus.PENDING
    verdict = Verdict.FAILURE if given.status is EpisodeStatus.FAILURE else Verdict.SUCCESS
    return replaced(
        given,
        action=given.action or ANSWER,
        action_target=given.action_target or given.goal,
        termination=Termination.EXPAND if given.status is EpisodeStatus.EXPAND else given.termination,
        verdicts=Verdicts(personal=verdict) if is_told else given.verdicts,
    )


def _sources(tx: Transaction, scope: Scope, given: Sequence[Episode]) -> dict[str, Sources]:
    """By id, whose words episodes of this workspace have, as far as the file says and their originals still tell."""
    here = {each.id: each for each in given if each.workspace == scope.workspace and each.id}
    links = tx.episodes.links(scope.workspace, here, LinkKind.CORRECTS)
    lessons = tx.episodes.get_many(scope.workspace, [link.from_id for link in links])
    noted = tx.episodes.words_of_others(scope.workspace, here)
    wrote = {each.id: {each.author or each.person} for each in here.values()}
    for episode_id, people in noted.items():
        each = here[episode_id]
        wrote[episode_id] |= set(people) if each.origin is Origin.RUN else answer_authors(tx, each)
    answered = {each.run_id for each in here.values() if each.origin is Origin.RUN}
    taught = runs_with_lessons(tx, scope.workspace, answered)
    for each in here.values():
        if each.run_id in taught:
            wrote[each.id] |= people_behind(tx, each)
    for link in links:
        if link.to_id in here and link.from_id in lessons:
            wrote[link.to_id].add(lessons[link.from_id].author)
    nobody = {"", scope.person}
    return {
        each.id: Sources(
            of_question=frozenset({each.person, *noted.get(each.id, ())} - nobody),
            of_answer=frozenset(wrote[each.id] - nobody),
        )
        for each in here.values()
    }


class _Runs:
    """The stored runs of some new episodes."""

    def __init__(self, tx: Transaction, episodic: EpisodicMemory, new: Sequence[_Placed]) -> None:
        scope = episodic.scope
        self._person, self._sender_key, self._session_key = scope.person, scope.sender_key, scope.session_key
        self._tx, self._workspace = tx, scope.workspace
        self.nodes: dict[str, Sequence[Episode]] = {}
        """The stored episodes of each run."""
        self.votes: dict[str, Sequence[Vote]] = {}
        """The votes on each run."""
        named = {each.given.run_id or each.id for each in new}
        self._read(named)
        self._own = {each: own_id(self._sender_key, each) for each in named if not self._is_open(each)}
        self._read(self._own.values())

    def run_id(self, placed: _Placed) -> str:
        """The run id of an episode; a derived one if its run is a real answer, another person's or judged by others."""
        named = placed.given.run_id or placed.id
        run_id = self._own.get(named, named)
        return run_id if self._is_open(run_id) else own_id(self._sender_key, f"{named}/{placed.id}")

    def _read(self, run_ids: Collection[str]) -> None:
        self.nodes |= {**dict.fromkeys(run_ids, ()), **self._tx.episodes.of_runs(self._workspace, run_ids)}
        self.votes |= self._tx.teaching.votes_of_runs(self._workspace, run_ids)

    def _is_open(self, run_id: str) -> bool:
        """Whether episodes may be imported into a run. Not if others voted on it, as votes apply to all its nodes."""
        nodes, votes = self.nodes[run_id], self.votes.get(run_id, ())
        is_own = all(node.scope.session_key == self._session_key and node.origin is Origin.IMPORT for node in nodes)
        return is_own and all(vote.actor == self._person for vote in votes)


def own_id(sender_key: str, of: str) -> str:
    """A fixed id for this person, derived from `of`."""
    return f"im{hashlib.sha256(f'{sender_key}/{of}'.encode()).hexdigest()[:_ID_DIGITS]}"
