"""The append-only log in dictionaries."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memory.adapters.inmemory.state import Access
from memory.adapters.row_validation import claim_key, one_workspace, plain, storable
from memory.model import Event, EventKind


class Log:
    """`memory.ports.EventLog` over dictionaries."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def claim(self, workspace: str, source_event_id: str, at: datetime) -> bool:
        claimed = self._access.changing.claimed
        if not source_event_id:
            raise ValueError("only an event with an id can be claimed")
        storable((workspace, source_event_id))
        key = (workspace, claim_key(workspace, source_event_id))
        if key in claimed:
            return False
        claimed[key] = storable(at)
        return True

    def sweep_claims(self, before: datetime) -> int:
        claimed = self._access.changing.claimed
        gone = [key for key, at in claimed.items() if at < before]
        for key in gone:
            del claimed[key]
        return len(gone)

    def append(self, *new: Event) -> list[Event]:
        if new:
            one_workspace(new)
        return [stored for stored in map(self._append, new) if stored is not None]

    def _append(self, event: Event) -> Event | None:
        state = self._access.changing
        detail: Mapping[str, object] = plain(storable(event).detail)
        if event.source_event_id and any(
            (known.source_event_id, known.episode_id, known.kind)
            == (event.source_event_id, event.episode_id, event.kind)
            for known in self._events(event.workspace)
        ):
            return None
        seq = self._access.next_number(event.workspace, "event")
        state.events[event.workspace, seq] = replace(event, detail=detail, seq=seq)
        return replace(event, seq=seq)

    def of_episode(self, workspace: str, episode_id: str) -> list[Event]:
        return [event for event in self._events(workspace) if event.episode_id == episode_id]

    def of_run(self, workspace: str, run_id: str) -> list[Event]:
        nodes = {key[1] for key, e in self._access.state.episodes.items() if key[0] == workspace and e.run_id == run_id}
        return [event for event in self._events(workspace) if event.episode_id in nodes]

    def erase_actor(self, workspace: str, actor: str) -> list[str]:
        events = self._access.changing.events
        gone = [event for event in self._events(workspace) if event.actor == actor]
        for event in gone:
            del events[workspace, event.seq]
        return sorted({event.episode_id for event in gone})

    def by_actor(self, workspace: str, actor: str, kinds: Sequence[EventKind], limit: int = 100) -> list[Event]:
        found = [event for event in self._events(workspace) if event.actor == actor and event.kind in kinds]
        return found[::-1][:limit]

    def _events(self, workspace: str) -> list[Event]:
        # Numbers only grow and dictionaries keep their order, so this is the order of the log.
        return [event for key, event in self._access.state.events.items() if key[0] == workspace]
