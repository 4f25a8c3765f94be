"""Administrators' views: an answer with its history, lists, statistics, and the check of stored values by the log."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

from memory.errors import InvalidInput, NotFound
from memory.model import (
    Episode,
    Event,
    EventKind,
    Incoming,
    LedgerEntry,
    Link,
    LinkKind,
    Reaction,
    Retrieval,
    RetrievalItem,
    Signal,
    StoredGrade,
    Verdict,
    Vote,
)
from memory.model.evidence import EvidenceRecord
from memory.model.topic import TopicEvent
from memory.model.upkeep import Fault
from memory.model.validation import require_whole
from memory.ports import EpisodeFilter, Transaction
from memory.rules.audience import index_entries_of
from memory.rules.fold import registers, replay
from memory.rules.verdict import fold_votes, trust_evidence_of
from memory.services.core import Core, require_episode
from memory.services.reports.consistency import (
    faults_of_records,
    faults_of_rules,
    faults_of_run,
    faults_of_threshold,
    in_counts,
)
from memory.services.reports.decisions import Decisions, decisions
from memory.services.topics.audit_log import faults_of_topics
from memory.services.verdicts.tally import JudgedRun, fold_judgements, weights_of, with_limits, with_standings
from memory.services.verdicts.verdicts import refold

_SIGNALS = frozenset(signal.value for signal in Signal)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One answer with everything stored about it."""

    nodes: tuple[Episode, ...]
    votes: tuple[Vote, ...]
    events: tuple[Event, ...]
    recalls: tuple[tuple[Retrieval, tuple[RetrievalItem, ...]], ...]
    lessons: dict[str, Episode]
    """The episodes that its nodes were shown, by id, without those erased since."""
    links: tuple[Link, ...]
    ledger: tuple[LedgerEntry, ...]
    incoming: Incoming | None
    grades: dict[str, tuple[StoredGrade, ...]]
    """The grades of its nodes and of the episodes they were shown, by episode, oldest first."""

    @property
    def root(self) -> Episode:
        """The root node, which gave the answer."""
        return self.nodes[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A stored value that differs from what the log says."""

    workspace: str
    episode_id: str
    """The id of the topic if `what` begins with `topic`, of the rule for a rule; empty for a voter's record."""
    what: str
    stored: str
    """For values that name people, only their number."""
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    """A page of the log, newest first."""

    entries: tuple[Event | TopicEvent, ...]
    next: tuple[int, int] | None
    """Where the next page begins; None at the end."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The use cases of administrators who look at memory. Reading changes neither salience nor the log."""

    _core: Core

    def workspaces(self) -> list[str]:
        """All workspaces."""
        return self._core.store.workspaces()

    def episodes(self, workspace: str, wanted: EpisodeFilter) -> list[Episode]:
        """A list of episodes without their long texts."""
        with self._core.store.read() as tx:
            return tx.episodes.search(workspace, wanted)

    def whole(self, workspace: str, wanted: EpisodeFilter) -> list[Episode]:
        """A list of full episodes, in two SQL statements."""
        with self._core.store.read() as tx:
            listed = [each.id for each in tx.episodes.outlines(workspace, wanted)]
            found = tx.episodes.get_many(workspace, listed)
        return [found[each] for each in listed]

    def all_episodes(self, workspace: str, wanted: EpisodeFilter) -> Iterator[list[Episode]]:
        """All full episodes of a list, `wanted.limit` at a time."""
        while found := self.whole(workspace, wanted):
            yield found
            wanted = replace(wanted, after=found[-1].id)

    def feedback(self, workspace: str, episode_id: str) -> list[Event]:
        """The events about how an episode was used each time it was shown as a lesson, newest first."""
        with self._core.store.read() as tx:
            log = tx.log.of_episode(workspace, episode_id)
        return [each for each in reversed(log) if each.kind.value in _SIGNALS]

    def page(
        self,
        workspace: str,
        wanted: EpisodeFilter,
        is_listed: Callable[[Episode], bool],
        window: Callable[[int], slice],
        is_correction: Callable[[Episode], bool] | None = None,
    ) -> tuple[list[Episode], int]:
        """A page of the episodes of `wanted` for which `is_listed` holds, and their total number.

        `is_listed` gets outlines, which have no text; `window` gets the total and returns which part is wanted.
        Refused answers are left out if `is_correction` holds for a correction of them.
        """
        with self._core.store.read() as tx:
            outlines = tx.episodes.outlines(workspace, wanted)
            failures = {each.id for each in outlines if is_correction and each.verdict is Verdict.FAILURE}
            links = [
                each for each in tx.episodes.links(workspace, failures, LinkKind.CORRECTS) if each.to_id in failures
            ]
            written = {each.from_id for each in links}
            lessons = {each.id: each for each in outlines if each.id in written}
            lessons |= tx.episodes.get_many(workspace, written - lessons.keys())
            corrections = {name for name, each in lessons.items() if is_correction and is_correction(each)}
            hidden = {each.to_id for each in links if each.from_id in corrections}
            listed = [each.id for each in outlines if is_listed(each) and each.id not in hidden]
            chosen = listed[window(len(listed))]
            found = tx.episodes.get_many(workspace, chosen)
        return [found[each] for each in chosen], len(listed)

    def find(self, prefix: str) -> Episode:
        """The episode whose id starts or ends with what an administrator typed.

        Raises `NotFound`, and `InvalidInput` if there are several.
        """
        if len(prefix.strip()) < 4:
            raise InvalidInput(f"{prefix!r} is too short for an id; give at least 4 characters of it")
        with self._core.store.read() as tx:
            found = tx.episodes.find_prefix(prefix.strip())
        if not found:
            raise NotFound(f"no episode with an id like {prefix!r}; `goodbot episodes list` shows those that exist")
        if len(found) > 1:
            raise InvalidInput(f"{prefix!r} is the beginning or end of several ids; give more of it")
        return found[0]

    def get(self, workspace: str, episode_id: str) -> Episode:
        """One full episode. Raises `NotFound`."""
        with self._core.store.read() as tx:
            return require_episode(tx, workspace, episode_id)

    def by_part_of_id(self, part: str, *, limit: int) -> list[Episode]:
        """Episodes of every workspace whose id starts or ends with this."""
        with self._core.store.read() as tx:
            return tx.episodes.find_prefix(part, limit=limit)

    def not_embedded(self, model: str) -> int:
        """The number of validated episodes, of all workspaces, that have no vector of this model."""
        missing = 0
        workspaces = self._core.store.workspaces()
        with self._core.store.read() as tx:
            for workspace in workspaces:
                lessons = tx.episodes.search(workspace, EpisodeFilter(limit=None))
                validated = [lesson.id for lesson in lessons if lesson.verdict.is_validated]
                vectors = tx.episodes.vectors(workspace, validated)
                missing += sum(vectors.get(each, ("", None))[0] != model for each in validated)
        return missing

    def nodes(self, workspace: str, run_id: str) -> list[Episode]:
        """The nodes of one answer; empty if it was erased or never stored."""
        with self._core.store.read() as tx:
            return tx.episodes.of_run(workspace, run_id)

    def evidence(self, workspace: str, run_id: str) -> EvidenceRecord | None:
        """The evidence of an answer's root node; None if there was none."""
        with self._core.store.read() as tx:
            return tx.retrievals.evidence_of_runs(workspace, [run_id]).get(run_id)

    def run(self, workspace: str, run_id: str) -> RunView:
        """One answer with everything stored about it. Raises `NotFound`."""
        with self._core.store.read() as tx:
            nodes = tx.episodes.of_run(workspace, run_id)
            if not nodes:
                raise NotFound(f"no answer {run_id} in {workspace}; it was erased or never stored")
            recalls = tx.retrievals.of_run(workspace, run_id)
            shown = {item.episode_id for _, items in recalls for item in items}
            graded = tx.steps.grades(workspace, {*shown, *(node.id for node in nodes)})
            return RunView(
                nodes=tuple(nodes),
                grades={episode_id: tuple(grades) for episode_id, grades in graded.items()},
                votes=tuple(tx.teaching.votes(workspace, run_id)),
                events=tuple(tx.log.of_run(workspace, run_id)),
                recalls=tuple((retrieval, tuple(items)) for retrieval, items in recalls),
                lessons=tx.episodes.get_many(workspace, shown),
                links=tuple(tx.episodes.links(workspace, [node.id for node in nodes])),
                ledger=tuple(tx.teaching.ledger_of_run(workspace, run_id)),
                incoming=tx.deliveries.incoming_of_run(workspace, run_id),
            )

    def statistics(self, workspace: str) -> tuple[dict[str, int], Decisions]:
        """Counts of episodes by verdict, origin and use; and how often questions were answered, asked back or wrong."""
        with self._core.store.read() as tx:
            counted, tapped = tx.totals.episode_counts(workspace), tx.deliveries.tapped(workspace)
            decided = decisions(tx, workspace, counted, self._core.policy.error_budget)
        kinds = ("origin.", "verdict.")
        shown = {
            name: number
            for name, number in counted.items()
            if (number or not name.startswith(kinds)) and not name.startswith("questions")
        }
        return dict(sorted({**shown, "asked.tapped": tapped}.items())), decided

    def log(
        self,
        workspace: str,
        *,
        actor: str = "",
        kind: EventKind | None = None,
        of_topics: bool = False,
        before: tuple[int, int] = (0, 0),
        limit: int,
    ) -> LogPart:
        """A page of a workspace's log with that of its topics: of one person, one kind of events, or only topics.

        `before` is where the previous page ended.
        """
        require_whole(limit, "limit")
        events: list[Event] = []
        topics: list[TopicEvent] = []
        with self._core.store.read() as tx:
            if not of_topics:
                events = tx.log.newest(workspace, actor=actor, kind=kind, before=before[0], limit=limit + 1)
            if kind is None:
                topics = tx.topics.changes(workspace, actor=actor, before=before[1], limit=limit + 1)
        both: tuple[list[Event | TopicEvent], ...] = ([*events], [*topics])
        merged = list(heapq.merge(*both, key=lambda each: each.at, reverse=True))
        shown = merged[:limit]
        last = {isinstance(each, TopicEvent): each.seq for each in shown}
        end = (last.get(False, before[0]), last.get(True, before[1]))
        return LogPart(entries=tuple(shown), next=end if len(merged) > limit else None)

    def check(self) -> list[Difference]:
        """All stored values, votes, index entries, links, signals and rules that differ from the log."""
        workspaces = self._core.store.workspaces()
        with self._core.store.read() as tx:
            found: list[Difference] = []
            beside: list[Difference] = []
            for workspace in workspaces:
                runs = _runs(tx, workspace)
                of_runs: list[Fault] = []
                for run_id in runs:
                    nodes, log = tx.episodes.of_run(workspace, run_id), tx.log.of_run(workspace, run_id)
                    found += self._differences(tx, workspace, run_id, nodes, log)
                    of_runs += faults_of_run(tx, workspace, nodes, log)
                beside += [
                    _difference(workspace, each.episode_id, each.what, each.stored, each.expected)
                    for each in _faults(tx, workspace, runs, of_runs)
                ]
        return found + beside

    def rebuild(self) -> int:
        """Recompute every derived value from the log. Returns how many differed."""
        workspaces = self._core.store.workspaces()
        with self._core.store.write() as tx:
            count = 0
            for workspace in workspaces:
                runs = _runs(tx, workspace)
                of_runs = [
                    fault
                    for run_id in runs
                    for fault in faults_of_run(
                        tx, workspace, tx.episodes.of_run(workspace, run_id), tx.log.of_run(workspace, run_id)
                    )
                ]
                faults = _faults(tx, workspace, runs, of_runs)
                count += len(faults)
                for fault in faults:
                    fault.repair()
                wrong = 0
                for run_id in runs:
                    nodes, log = tx.episodes.of_run(workspace, run_id), tx.log.of_run(workspace, run_id)
                    wrong += len(self._differences(tx, workspace, run_id, nodes, log))
                count += wrong
                if wrong:
                    # A run's votes affect the trust in its voters in other runs, so all are recomputed together.
                    for run_id in runs:
                        self._rewrite_registers(tx, workspace, run_id)
                    refold(tx, workspace, runs, self._core.policy)
            return count

    def _rewrite_registers(self, tx: Transaction, workspace: str, run_id: str) -> None:
        log = tx.log.of_run(workspace, run_id)
        logged = registers(log)
        for reaction in tx.teaching.reactions_of_run(workspace, run_id):
            if reaction.key not in {each.key for each in logged}:  # no event tells of it, so it belongs to no answer
                tx.teaching.put_reaction(replace(reaction, run_id="", is_active=False))
        for reaction in logged:
            tx.teaching.put_reaction(reaction)

    def _differences(
        self, tx: Transaction, workspace: str, run_id: str, nodes: Sequence[Episode], log: Sequence[Event]
    ) -> list[Difference]:
        root_id = nodes[0].id

        logged = registers(log)
        cast = with_standings(tx, workspace, fold_votes(logged))
        votes = with_limits(tx, cast, self._core.policy)
        of_people: list[tuple[str, str, Sequence[object], Sequence[object]]] = [
            (root_id, "reactions", _plain(tx.teaching.reactions_of_run(workspace, run_id)), _plain(logged)),
            (root_id, "votes", tx.teaching.votes(workspace, run_id), votes),
            (root_id, "trust", tx.teaching.trust_evidence(workspace, run_id), trust_evidence_of(votes)),
        ]
        values: list[tuple[str, str, object, object]] = []
        weights = weights_of(tx, workspace, votes, self._core.policy)
        judged = fold_judgements(tx, workspace, [JudgedRun(nodes[0], votes, weights, logged)])[run_id]
        of_people.append((root_id, "judgements", tx.judgements.of_run(workspace, run_id), judged))
        for episode in nodes:
            expected = replay(episode, log, self._core.policy, votes=votes, weights=weights)
            names = [field.name for field in fields(Episode)]
            values += [(episode.id, name, getattr(episode, name), getattr(expected, name)) for name in names]
            if tx.episodes.vectors(workspace, [episode.id]):
                indexed = tx.episodes.index_of(workspace, episode.id)
                of_people.append((episode.id, "index", indexed, index_entries_of(expected)))
        values += [(id_, what, *in_counts(each, log)) for id_, what, each, log in of_people if each != log]
        return [_difference(workspace, *each) for each in values if each[2] != each[3]]


def _faults(tx: Transaction, workspace: str, runs: Sequence[str], of_runs: Sequence[Fault]) -> list[Fault]:
    """The faults in the tables beside the episodes, including `of_runs`, and in the topics."""
    found = faults_of_rules(tx, workspace) + faults_of_records(tx, workspace, runs)
    found += faults_of_threshold(tx, workspace)
    return [*found, *of_runs, *faults_of_topics(tx, workspace)]


def _difference(workspace: str, episode_id: str, what: str, stored: object, expected: object) -> Difference:
    return Difference(
        workspace=workspace, episode_id=episode_id, what=what, stored=repr(stored), expected=repr(expected)
    )


def _runs(tx: Transaction, workspace: str) -> list[str]:
    every = tx.episodes.outlines(workspace, EpisodeFilter(include_archived=True, limit=None, newest_first=False))
    return list(dict.fromkeys(episode.run_id for episode in every))


def _plain(reactions: Sequence[Reaction]) -> list[tuple[object, ...]]:
    """Reactions without their arrival numbers, which a rebuild cannot reproduce."""
    return sorted((*r.key, r.value, r.role.value, r.at, r.is_active, r.run_id, r.event_id) for r in reactions)
