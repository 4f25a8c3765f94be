"""Checks and repairs of derived data beside the episodes: links, signals, rules, voters' records and thresholds."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from memory.model import Episode, Event, EventKind, Link, LinkKind, Signal, TeachingPolicy
from memory.model.upkeep import Fault
from memory.ports import Transaction
from memory.rules.evidence.threshold import counted_threshold, newest_counted
from memory.rules.fold import USES
from memory.services.core import ALL
from memory.services.recall.rules import drop_invalid_rules, invalid_rules
from memory.services.verdicts.archive import MERGED
from memory.services.verdicts.tally import count_threshold


def in_counts(stored: Collection[object], expected: Collection[object]) -> tuple[str, str]:
    """Describe two collections that name people by their sizes, and by how many elements the other lacks."""
    more = sum(each not in expected for each in stored)
    less = sum(each not in stored for each in expected)
    return f"{len(stored)} ({more} of them not in the log)", f"{len(expected)} ({less} of them not stored)"


def faults_of_run(tx: Transaction, workspace: str, nodes: Sequence[Episode], log: Sequence[Event]) -> list[Fault]:
    """The faults in the links of one run's episodes, and in the signals of how they were used as lessons."""
    return [*_links(tx, workspace, nodes, log), *_signals(tx, workspace, nodes, log)]


def faults_of_rules(tx: Transaction, workspace: str) -> list[Fault]:
    """The rules that the job cannot have left. The repair deletes them; the job derives anew those that hold."""
    return [
        Fault(
            episode_id=rule.id,
            what="rule",
            stored=rule.lesson_ids,
            expected=None,
            repair=partial(drop_invalid_rules, tx, workspace),
        )
        for rule in invalid_rules(tx, workspace, tx.upkeep.rules(workspace))
    ]


def faults_of_records(tx: Transaction, workspace: str, run_ids: Sequence[str]) -> list[Fault]:
    """The voters whose record differs from the count of what the votes on all runs of the workspace prove."""
    counted = {vote.actor: [0, 0] for run_id in run_ids for vote in tx.teaching.votes(workspace, run_id)}
    for run_id in run_ids:
        for each in tx.teaching.trust_evidence(workspace, run_id):
            counted.setdefault(each.actor, [0, 0])[0 if each.agrees else 1] += 1
    stored = tx.teaching.record_of(workspace, counted)
    return [
        Fault(
            episode_id="",
            what="record",
            stored=stored[actor],
            expected=(right, wrong),
            repair=partial(tx.teaching.recount, workspace, [actor]),
        )
        for actor, (right, wrong) in counted.items()
        if stored[actor] != (right, wrong)
    ]


def faults_of_threshold(tx: Transaction, workspace: str) -> list[Fault]:
    """The threshold, if it differs from what the judgements give for its budget, or if its row is damaged.

    The estimate of confusion in a damaged row is lost: the usual value is used until it is estimated again.
    """
    stored, damage = tx.judgements.threshold(workspace), tx.judgements.threshold_damage(workspace)
    budget = stored.budget if stored else TeachingPolicy().error_budget
    counts = tx.judgements.counts(workspace, newest_counted(budget))
    if stored is None and not counts and not damage:
        return []
    expected = counted_threshold(workspace, counts, budget, stored.confusion if stored else 1.0)
    if stored == expected:
        return []
    kept, counted = in_counts(stored.reliability.items() if stored else (), expected.reliability.items())
    return [
        Fault(
            episode_id="",
            what="threshold",
            stored=damage or (stored and (stored.value, kept)),
            expected=(expected.value, counted),
            repair=partial(count_threshold, tx, workspace, budget, stored=stored),
        )
    ]


def _links(tx: Transaction, workspace: str, nodes: Sequence[Episode], log: Sequence[Event]) -> Iterator[Fault]:
    """The faults in `same_goal` links from merged lessons, and in `corrects` links from corrections."""
    expected: dict[tuple[str, str, LinkKind], Event] = {}
    for event in log:
        if event.kind is EventKind.ARCHIVED and event.detail.get("reason") == MERGED:
            expected[event.episode_id, str(event.detail["into"]), LinkKind.SAME_GOAL] = event
        elif event.kind is EventKind.CORRECTED and event.detail.get("lesson"):
            expected[str(event.detail["lesson"]), event.episode_id, LinkKind.CORRECTS] = event
    own = {node.id for node in nodes}
    parents = {node.id: node.parent_id for node in nodes}
    stored = {(link.from_id, link.to_id, link.kind): link for link in tx.episodes.links(workspace, own)}
    alive = tx.episodes.get_many(workspace, {end for key in expected for end in key[:2]})
    for (from_id, to_id, kind), event in expected.items():
        if (from_id, to_id, kind) not in stored and from_id in alive and to_id in alive:
            link = Link(workspace=workspace, from_id=from_id, to_id=to_id, kind=kind, at=event.at)
            yield Fault(
                episode_id=event.episode_id,
                what="link",
                stored=None,
                expected=_plain(link),
                repair=partial(tx.episodes.add_link, link),
            )
    for key, link in stored.items():
        # Each link is checked once, with the run whose log records it.
        end = link.to_id if link.kind is LinkKind.CORRECTS else link.from_id
        if end not in own or key in expected or link.kind is LinkKind.SUPERSEDES:
            continue
        if link.kind is not LinkKind.SUBGOAL_OF or parents[link.from_id] != link.to_id:
            yield Fault(
                episode_id=end,
                what="link",
                stored=_plain(link),
                expected=None,
                repair=partial(tx.episodes.remove_link, link),
            )


def _plain(link: Link) -> tuple[str, str, str]:
    return (link.from_id, link.kind.value, link.to_id)


def _signals(tx: Transaction, workspace: str, nodes: Sequence[Episode], log: Sequence[Event]) -> Iterator[Fault]:
    """The faults in the signal and ratio of each time an episode was shown, by the event that changed its strength."""
    uses: dict[str, list[Event]] = {}
    for event in log:
        if event.kind in USES and event.source_event_id.startswith("use/"):
            uses.setdefault(event.source_event_id, []).append(event)
    for node in nodes:
        for _, item in tx.retrievals.of_episode(workspace, node.id, limit=ALL):
            events = uses.get(f"use/{item.retrieval_id}/{node.id}", [])
            known = [(Signal(event.kind.value), float(str(event.detail.get("ratio", 0.0)))) for event in events]
            stored = (item.signal, round(item.ratio, 4))
            if stored in known or (not known and item.signal is None):
                continue
            signal, ratio = known[-1] if known else (None, 0.0)
            yield Fault(
                episode_id=node.id,
                what="signal",
                stored=(item.retrieval_id, *stored),
                expected=(item.retrieval_id, signal, ratio),
                repair=partial(tx.retrievals.set_signal, replace(item, signal=signal, ratio=ratio)),
            )
