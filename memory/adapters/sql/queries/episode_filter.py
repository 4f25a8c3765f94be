"""`EpisodeFilter` as SQL conditions."""

import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, TextClause, and_, func, literal, or_, select, tuple_

from memory.adapters.sql.queries.people import channel_visibility
from memory.adapters.sql.tables.administration import batch_lessons
from memory.adapters.sql.tables.dialect import like_ascii, lowered
from memory.adapters.sql.tables.episodes import IS_DISPUTED, episodes, quarantines
from memory.model import Origin, Verdict, Visibility
from memory.model.validation import require_whole
from memory.ports import EpisodeFilter

_Condition = ColumnElement[bool] | TextClause
_t = episodes.c
_b = batch_lessons.c
_VALIDATED = [verdict for verdict in Verdict if verdict.is_validated]
_LIKE_CHARACTERS = 1000
_LONG_AGO = datetime(1, 1, 2, tzinfo=UTC)
_WRITTEN = (Origin.CORRECTION, Origin.TAUGHT)

QUARANTINE = (
    select(quarantines.c.reasons)
    .where(quarantines.c.workspace == _t.workspace, quarantines.c.episode_id == _t.id)
    .correlate(episodes)
    .scalar_subquery()
)
"""The reasons of an episode's quarantine; NULL if it is not quarantined."""


def filtered(statement: Select[Any], workspace: str, wanted: EpisodeFilter) -> Select[Any]:
    """The statement with the conditions of a filter in one workspace. Raises `InvalidInput` for impossible numbers."""
    _require_numbers(wanted)
    same = ("channel", "person", "author", "action", "status", "verdict", "termination")
    given = [(name, getattr(wanted, name)) for name in same]
    conditions: list[_Condition] = [_t[name] == value for name, value in given if value]
    conditions.append(_t.workspace == workspace)
    if wanted.text:
        conditions.append(_contains(wanted.text))
    if wanted.decided_in:
        conditions.append(_t[f"verdict_{wanted.decided_in.value}"].in_(_VALIDATED))
    if wanted.since:
        conditions.append(_t.created_at >= wanted.since)
    if wanted.until:
        conditions.append(_t.created_at < wanted.until)
    if wanted.roots_only:
        conditions.append(_t.parent_id == "")
    if wanted.archived_only or not wanted.include_archived:
        conditions.append(_t.archived_at.is_not(None) if wanted.archived_only else _t.archived_at.is_(None))
    conditions += [*_by_state(workspace, wanted), *_by_visibility(wanted)]
    if wanted.after:
        seen, place = episodes.alias(), tuple_(_t.created_at, _t.id)
        last = select(seen.c.created_at, seen.c.id).where(seen.c.workspace == workspace, seen.c.id == wanted.after)
        behind = place.__lt__ if wanted.newest_first else place.__gt__
        conditions.append(behind(last.scalar_subquery()))
    if reader := wanted.counting_for:
        is_own = or_(_t.person == reader.person, _t.author == reader.person)
        conditions.append(
            or_(
                _t.verdict_workspace.in_(_VALIDATED),
                and_(_t.verdict_channel.in_(_VALIDATED), _t.channel == reader.channel),
                and_(_t.verdict_personal.in_(_VALIDATED), is_own),
            )
        )
    if teacher := wanted.to_review_in:
        may_widen = or_(
            _t.origin != Origin.RUN, _t.verdict_channel.in_(_VALIDATED), _t.verdict_personal.in_(_VALIDATED)
        )
        conditions.append(or_(_t.visibility == Visibility.PUBLIC, _t.channel == teacher.channel))
        conditions.append(or_(QUARANTINE.is_not(None), and_(_t.promoted.is_(None), may_widen)))
    return statement.select_from(episodes).where(*conditions)


def _require_numbers(wanted: EpisodeFilter) -> None:
    """Raise `InvalidInput` for a number of episodes that cannot be, which SQLite would take for no limit."""
    for name, number, low in (("limit", wanted.limit, 0), ("newest", wanted.newest, 1)):
        if number is not None:
            require_whole(number, name, low=low)


def _contains(part: str) -> ColumnElement[bool]:
    """Whether the question or the answer contains a text, ignoring case."""
    if part.isascii() and part.isprintable() and len(part) <= _LIKE_CHARACTERS:
        pattern = re.sub("([%_!])", r"!\1", part)
        return or_(*(like_ascii(column, f"%{pattern}%") for column in (_t.goal, _t.output)))
    # Both in one call, as calls of Python functions are slow.
    return func.strpos(lowered(_t.goal + "\n" + _t.output), part.lower()) > 0


def _is_among_newest(workspace: str, number: int) -> ColumnElement[bool]:
    other = episodes.alias()
    newest = select(other.c.created_at).where(other.c.workspace == workspace).order_by(other.c.created_at.desc())
    oldest = newest.limit(1).offset(number - 1).scalar_subquery()
    return _t.created_at >= func.coalesce(oldest, literal(_LONG_AGO, _t.created_at.type))


def _is_from_file(*more: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether the episode was learned from a file, with these conditions on its batch."""
    same = (_b.workspace == _t.workspace, _b.lesson_id == _t.id)
    return select(_b.lesson_id).where(*same, *more).correlate(episodes).exists()


def _by_state(workspace: str, wanted: EpisodeFilter) -> list[_Condition]:
    """The conditions on verdict, age, batch, origin and quarantine."""
    conditions: list[_Condition] = []
    if wanted.verdict is Verdict.DISPUTED:
        conditions.append(IS_DISPUTED)  # the literal, so that SQLite uses the partial index
    if wanted.newest is not None:
        conditions.append(_is_among_newest(workspace, wanted.newest))
    if wanted.judged_only:
        conditions.append(_t.verdict != Verdict.PENDING)
    if wanted.batches:
        conditions.append(_is_from_file(_b.batch_id.in_(wanted.batches)))
    if wanted.unbatched:
        conditions.append(~_is_from_file())
    if wanted.written_only:
        conditions.append(_t.origin.in_(_WRITTEN))
    if wanted.quarantined_only:
        conditions.append(_t.id.in_(select(quarantines.c.episode_id).where(quarantines.c.workspace == workspace)))
    if wanted.to_decide:
        verdicts = (_t.verdict, _t.verdict_channel, _t.verdict_proposed)
        is_unjudged = and_(_t.origin.in_(_WRITTEN), _t.verdict_channel == Verdict.PENDING, _t.promoted.is_(None))
        conditions.append(_t.visibility != Visibility.DIRECT)  # others do not decide about direct messages
        conditions.append(or_(*(each == Verdict.DISPUTED for each in verdicts), is_unjudged, QUARANTINE.is_not(None)))
    return conditions


def _by_visibility(wanted: EpisodeFilter) -> list[_Condition]:
    conditions: list[_Condition] = []
    if wanted.visibilities:
        conditions.append(_t.visibility.in_(wanted.visibilities))
    if wanted.public_only:
        conditions += are_public()
    return conditions


def are_public() -> list[ColumnElement[bool]]:
    """The conditions on episodes that everybody of their workspace could read then and can read now."""
    now = func.coalesce(channel_visibility(episodes).element, Visibility.PUBLIC)
    return [_t.visibility == Visibility.PUBLIC, now == Visibility.PUBLIC]
