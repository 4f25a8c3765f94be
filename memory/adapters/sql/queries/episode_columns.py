"""The columns of an episode in SQL: those that are read, whole or for lists, and those that are written."""

from dataclasses import fields

from sqlalchemy import literal, select

from memory.adapters.sql.queries.episode_filter import QUARANTINE
from memory.adapters.sql.queries.people import channel_visibility
from memory.adapters.sql.tables.episodes import episodes
from memory.model import Episode

_t = episodes.c
SAME = tuple(field.name for field in fields(Episode) if field.name in _t)
"""The columns named like a field of an episode."""
VERDICTS = ("personal", "channel", "workspace", "proposed")
"""The fields of `Episode.verdicts`."""
VERDICT_COLUMNS = tuple(f"verdict_{name}" for name in VERDICTS)
"""Their columns, in the same order."""
USAGE = ("prompt_tokens", "completion_tokens", "cost_usd")
"""The fields of `Episode.usage`, and their columns."""
STORED = (*SAME, *VERDICT_COLUMNS, *USAGE, "verdict", "goal_digest")
"""The columns that a new episode has; the last two are derived."""
CHANGING = (
    "status",
    "outcome_reason",
    "correction",
    "promoted",
    "strength",
    "nudge",
    "salience",
    "salience_at",
    "retrieval_count",
    "used_count",
    "ignored_count",
    "graded_at",
    "archived_at",
)
"""The columns that `update` stores, beside the verdicts; none is long."""

_READ = (*SAME, *VERDICT_COLUMNS, *USAGE)
_LONG = ("thoughts", "context_before", "context_after", "trajectory")
_TEXTS = (*_LONG, "goal", "why", "action_target", "outcome_reason", "task_incomplete", "correction", "output")
_BESIDE = (QUARANTINE.label("quarantine"), channel_visibility(episodes))
WHOLE = select(*(_t[name] for name in _READ), *_BESIDE)
"""The query of whole episodes."""
NARROW = select(*(_t[name] for name in _READ if name not in _LONG), *_BESIDE)
"""The same without the long texts, for lists."""
OUTLINE = select(*(_t[name] for name in _READ if name not in _TEXTS), literal("").label("goal"), *_BESIDE)
"""The same without any text."""
