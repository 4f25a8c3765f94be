"""Stores who can read a channel now, and updates the index entries of its episodes when that changes."""

from dataclasses import dataclass, replace
from datetime import datetime

from memory.model import Channel, Scope, Visibility
from memory.ports import EpisodeFilter, Transaction
from memory.rules.audience import changed_by, index_entries_of
from memory.services.core import Core
from memory.services.verdicts.archive import merged_into, unmerge


@dataclass(frozen=True, slots=True)
class Channels:
    """The use cases that store who can read each channel, and its name, as events and the platform say."""

    _core: Core

    def last_known(self, scope: Scope) -> Scope:
        """The scope with the last stored visibility of its channel; unchanged if there is none."""
        with self._core.store.read() as tx:
            known = _known(tx, scope)
        return scope if known is None else replace(scope, visibility=known, is_visibility_known=True)

    def note(self, scope: Scope) -> bool:
        """Store a channel's present visibility, unless it is a guess. Returns whether it changed.

        Reads once as long as nothing changes. Afterwards nothing that was said there is found or shown to people who
        could not read it then, or cannot now.
        """
        if not scope.has_new_visibility(None):
            return False
        with self._core.store.read() as tx:
            if not scope.has_new_visibility(_known(tx, scope)):
                return False
        with self._core.store.write() as tx:
            return store_visibility(tx, scope, self._core.clock())

    def rename(self, scope: Scope) -> None:
        """Store a channel's present name, for lists and explanations. Direct messages, and ids, are no names."""
        if scope.visibility is Visibility.DIRECT or scope.place in ("", scope.channel):
            return
        with self._core.store.write() as tx:
            tx.episodes.rename_place(scope.workspace, scope.channel, scope.place)


def store_visibility(tx: Transaction, scope: Scope, now: datetime) -> bool:
    """Store a channel's present visibility, unless it is a guess, in a transaction that writes anyway."""
    if not scope.has_new_visibility(None):
        return False
    known = _known(tx, scope)
    is_new = scope.has_new_visibility(known)
    if is_new:
        _store_change(tx, scope, known, now)
    return is_new


def _store_change(tx: Transaction, scope: Scope, known: Visibility | None, now: datetime) -> None:
    """Store a visibility that differs from the known one, and update the index entries of the channel's episodes."""
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
