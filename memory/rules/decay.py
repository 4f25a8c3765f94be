"""How strength and salience fade while nobody needs a lesson, and when a lesson is ready for the archive. Pure.

Only disuse fades: the stored strength never changes by itself, it is read as of a moment. The more often a lesson was
used, the longer it lasts. What is weak, unloved and idle is archived, never deleted.
"""

import math
from datetime import datetime, timedelta

from memory.model import Episode
from memory.model.upkeep import UpkeepPolicy
from memory.rules.strength import salience

HALF_LIFE = timedelta(days=60)
"""Of a lesson that was never used; once more for every use."""
HALF_LIFE_MAX = timedelta(days=365)


def touched_at(episode: Episode) -> datetime:
    """The last moment somebody judged the episode or was shown it."""
    return max(episode.created_at, episode.salience_at, episode.graded_at or episode.created_at)


def half_life(episode: Episode) -> timedelta:
    """How long half of the strength lasts without use."""
    return min(HALF_LIFE_MAX, HALF_LIFE * (1 + episode.used_count))


def strength_at(episode: Episode, now: datetime) -> float:
    """What is left of the strength at `now`, 0..1. A clock that ran backwards changes nothing."""
    idle = max(timedelta(0), now - touched_at(episode))
    return episode.strength * math.exp2(-(idle / half_life(episode)))


def salience_at(episode: Episode, now: datetime) -> float:
    """What is left of the salience at `now`, 0..10."""
    return salience(episode.salience, episode.salience_at, now)


def is_ready_for_archive(episode: Episode, now: datetime, policy: UpkeepPolicy) -> bool:
    """Whether a lesson is weak, unloved and idle. What nobody has judged, or what waits for review, is no lesson."""
    return (
        episode.archived_at is None
        and not episode.quarantine
        and episode.verdict.is_validated
        and strength_at(episode, now) < policy.archive_strength
        and salience_at(episode, now) < policy.archive_salience
        and now - touched_at(episode) > policy.archive_idle
    )
