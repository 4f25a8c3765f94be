"""Strength and salience of lessons: how use changes them, and how both decay without use.

Strength is how far a lesson is trusted: a base by its verdicts (`memory.model.derive_strength`), and a nudge from use,
which is bounded so that no number of unlucky answers erases a taught lesson. Salience is how present a lesson is:
raised when it is shown, halved by each half-life without use.

Stored values do not change by themselves; the decay is computed when they are read. Each use lengthens the half-life of
strength. Weak, idle lessons of low salience are archived, never deleted.
"""

import math
from datetime import datetime, timedelta

from memory.model import Episode, Signal
from memory.model.upkeep import UpkeepPolicy

NUDGE = {Signal.USED: 0.05, Signal.IGNORED: -0.02, Signal.CONTRADICTED: -0.05, Signal.UNKNOWN: 0.0}
NUDGE_MIN, NUDGE_MAX = -0.2, 0.3

SALIENCE_BUMP = 0.1
SALIENCE_MAX = 10.0
SALIENCE_HALF_LIFE = timedelta(days=14)

HALF_LIFE = timedelta(days=60)
"""The half-life of an unused lesson's strength; each use adds as much."""
HALF_LIFE_MAX = timedelta(days=365)


def nudged(nudge: float, signal: Signal) -> float:
    """The nudge after one more signal, within `NUDGE_MIN`..`NUDGE_MAX`."""
    return round(min(NUDGE_MAX, max(NUDGE_MIN, nudge + NUDGE[signal])), 6)


def salience(value: float, at: datetime, now: datetime) -> float:
    """The salience at `now`, decayed from `value` at `at`. A `now` before `at` changes nothing."""
    age = max(timedelta(0), now - at)
    return value * math.exp2(-(age / SALIENCE_HALF_LIFE))


def bumped(value: float, at: datetime, now: datetime) -> float:
    """Salience after one retrieval at `now`, at most `SALIENCE_MAX`."""
    return round(min(SALIENCE_MAX, salience(value, at, now) + SALIENCE_BUMP), 9)


def touched_at(episode: Episode) -> datetime:
    """The last time the episode was judged or shown."""
    return max(episode.created_at, episode.salience_at, episode.graded_at or episode.created_at)


def half_life(episode: Episode) -> timedelta:
    """The half-life of the episode's strength."""
    return min(HALF_LIFE_MAX, HALF_LIFE * (1 + episode.used_count))


def strength_at(episode: Episode, now: datetime) -> float:
    """The decayed strength at `now`, 0..1. A clock that ran backwards changes nothing."""
    idle = max(timedelta(0), now - touched_at(episode))
    return episode.strength * math.exp2(-(idle / half_life(episode)))


def salience_at(episode: Episode, now: datetime) -> float:
    """The decayed salience at `now`, 0..10."""
    return salience(episode.salience, episode.salience_at, now)


def is_ready_for_archive(episode: Episode, now: datetime, policy: UpkeepPolicy) -> bool:
    """Whether a validated lesson is weak, of low salience and idle. Quarantined ones wait for review instead."""
    return (
        episode.archived_at is None
        and not episode.quarantine
        and episode.verdict.is_validated
        and strength_at(episode, now) < policy.archive_strength
        and salience_at(episode, now) < policy.archive_salience
        and now - touched_at(episode) > policy.archive_idle
    )
