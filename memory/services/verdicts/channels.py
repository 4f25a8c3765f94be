"""Who can read a channel now, and what follows when that changes: what was said in it is filed anew at once."""

from dataclasses import dataclass, replace
from datetime import datetime

from memory.model import Channel, Scope, Visibility
from memory.ports import EpisodeFilter, Transaction
from memory.rules.audience import changed_by, index_entries_of
from memory.services.core import Core
from memory.services.verdicts.archive import merged_into, unmerge


@dataclass(frozen=True, slots=True)
class Channels:
    """The record of who can read each channel, and of its name, as events in it or the platform tell."""

    _core: Core

    def last_known(self, scope: Scope) -> Scope:
        """The place with the visibility noted of it last, whatever its own; as it is where none was."""
        with self._core.store.read() as tx:
            known = _known(tx, scope)
        return scope if known is None else replace(scope, visibility=known, is_visibility_known=True)

    def note(self, scope: Scope) -> bool:
        """Take in the visibility of a place as it is now, unless that is a guess. True if it was not known so.

        One look at the store as long as nothing changes. When it returns, nothing that was said there is found, or
        shown, where the people of then or those of now could not read it.
        """
        if not scope.is_news_of(None):
            return False
        with self._core.store.read() as tx:
            if not scope.is_news_of(_known(tx, scope)):
                return False
        with self._core.store.write() as tx:
            return note(tx, scope, self._core.clock())

    def rename(self, scope: Scope) -> None:
        """Take in the name of a place, as lists and explanations tell it. A direct message, and an id, are no names."""
        if scope.visibility is Visibility.DIRECT or scope.place in ("", scope.channel):
            return
        with self._core.store.write() as tx:
            tx.episodes.rename_place(scope.workspace, scope.channel, scope.place)


def note(tx: Transaction, scope: Scope, now: datetime) -> bool:
    """The same as `Channels.note`, in a transaction that writes anyway."""
    if not scope.is_news_of(None):
        return False
    known = _known(tx, scope)
    is_news = scope.is_news_of(known)
    if is_news:
        _note_change(tx, scope, known, now)
    return is_news


def _note_change(tx: Transaction, scope: Scope, known: Visibility | None, now: datetime) -> None:
    """Take in the visibility of a place where another one or none was known."""
    workspace, channel = scope.workspace, scope.channel
    changed = EpisodeFilter(channel=channel, visibilities=changed_by(known, scope.visibility), limit=None)
    before = tx.episodes.outlines(workspace, changed) if changed.visibilities else []
    tx.channels.put(Channel(workspace=workspace, channel=channel, visibility=scope.visibility, since=now))
    after = [replace(episode, channel_visibility=scope.visibility) for episode in before]
    moved = {
        new.id: entries
        for old, new in zip(before, after, strict=True)
        if index_entries_of(old) != (entries := index_entries_of(new))
    }
    if moved:
        tx.episodes.set_indexes(workspace, moved)
        unmerge(tx, workspace, merged_into(tx, workspace, moved), now)


def _known(tx: Transaction, scope: Scope) -> Visibility | None:
    channel = tx.channels.get(scope.workspace, scope.channel)
    return channel.visibility if channel is not None else None
