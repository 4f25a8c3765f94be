"""The reasons that come with judgements, which are shown with the lesson, and their withdrawal."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from memory.model import Episode, Event, EventKind, Reaction, Verdict, Verdicts
from memory.ports import Transaction
from memory.rules.fold import GRADINGS
from memory.rules.verdict import CORRECTION
from memory.services.core import event, record, require_episode

GRADE = "grade"
"""Source of a vote that is a grade with a verdict, and perhaps a reason."""

WITHDRAWN = "withdrawn"
"""Marks an event by which a person's reasons up to it are withdrawn."""


class _Given(NamedTuple):
    """A reason, and for which verdict it was given."""

    actor: str
    text: str
    verdict: Verdict


def withdraw_reasons(tx: Transaction, withdrawn: Iterable[Reaction], now: datetime) -> None:
    """Withdraw the reasons that came with judgements of one answer which were withdrawn."""
    for each in withdrawn:
        if each.source != GRADE and not each.source.startswith(f"{CORRECTION}:"):
            continue
        nodes = tx.episodes.of_run(each.workspace, each.run_id)
        if each.node_id:
            nodes = [node for node in nodes if node.id == each.node_id]
        else:
            others = tx.teaching.reactions_of_run(each.workspace, each.run_id)
            judged_alone = {one.node_id for one in others if one.is_active and one.actor == each.actor}
            nodes = [node for node in nodes if node.id not in judged_alone]
        for node in nodes:
            withdraw_reason(tx, node, each.actor, now)


def withdraw_reason(
    tx: Transaction, episode: Episode, actor: str, now: datetime, detail: Mapping[str, object] | None = None
) -> Episode:
    """Withdraw this person's reasons; the last reason that somebody else gave for the same verdict takes their place.

    Returns the episode, unchanged if they gave none. `detail` is added to the event of the withdrawal. The reason that
    takes their place is recorded in its giver's name, so that forgetting or purging them reaches it.
    """
    if episode.graded_at is None:
        return episode
    log = [each for each in tx.log.of_episode(episode.workspace, episode.id) if each.kind in GRADINGS]
    given = _not_withdrawn(log)
    if all(each.actor != actor for each in given):
        return episode
    shown = next((each for each in reversed(log) if "reason" in each.detail), None)
    is_shown = bool(episode.outcome_reason) and shown is not None and shown.actor == actor
    marked: dict[str, object] = {**(detail or {}), WITHDRAWN: True} | ({"reason": ""} if is_shown else {})
    record(tx, episode, event(episode, EventKind.UNGRADED, actor, now, detail=marked))
    after = require_episode(tx, episode.workspace, episode.id)
    left = [each for each in given if each.actor != actor and each.verdict is episode.verdict]
    if after.outcome_reason or not left:
        return after
    back = event(episode, EventKind.UNGRADED, left[-1].actor, now, detail={"reason": left[-1].text})
    return record(tx, after, back)


def _not_withdrawn(log: Sequence[Event]) -> list[_Given]:
    """The reasons that were not withdrawn, oldest first; of each person the latest for each verdict."""
    left: list[_Given] = []
    verdict = Verdict.PENDING
    for each in log:
        if words := str(each.detail.get("to", "")).split():
            personal, channel, workspace = map(Verdict, words)
            verdict = Verdicts(personal=personal, channel=channel, workspace=workspace).overall
        if each.detail.get(WITHDRAWN):
            left = [one for one in left if one.actor != each.actor]
        elif reason := str(each.detail.get("reason", "")):
            left = [one for one in left if (one.actor, one.verdict) != (each.actor, verdict)]
            left.append(_Given(each.actor, reason, verdict))
    return left
