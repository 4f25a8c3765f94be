"""Counts over the whole database for monitoring, without personal data."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from memory.model import EventKind
from memory.ports import VerdictCount
from memory.services.core import Core
from memory.services.upkeep import JobState, Upkeep


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryState:
    """The current state of all workspaces together."""

    verdicts: tuple[VerdictCount, ...]
    waiting: int
    """Messages that are not answered yet, or whose answers are not posted."""
    jobs: tuple[JobState, ...]


@dataclass(frozen=True, slots=True)
class EventCounts:
    """The numbers of events of each kind in a section of the logs, and where the section ends."""

    kinds: Mapping[EventKind, int] = field(default_factory=dict[EventKind, int])
    places: Mapping[str, int] = field(default_factory=dict[str, int])
    """The last event's `seq`, by workspace."""


@dataclass(frozen=True, slots=True)
class Monitoring:
    """The use cases of monitoring. They only read."""

    _core: Core
    _upkeep: Upkeep

    def state(self) -> MemoryState:
        """Count everything. Scans all episodes, so it should not be called every second."""
        with self._core.store.read() as tx:
            verdicts, waiting = tx.totals.verdicts(), len(tx.deliveries.unfinished())
        return MemoryState(verdicts=tuple(verdicts), waiting=waiting, jobs=tuple(self._upkeep.states()))

    def now(self) -> EventCounts:
        """Empty counts that end at the present, as a start for `since`."""
        workspaces = self._core.store.workspaces()
        with self._core.store.read() as tx:
            newest = {workspace: tx.log.newest(workspace, limit=1) for workspace in workspaces}
        return EventCounts(places={workspace: events[0].seq for workspace, events in newest.items() if events})

    def since(self, before: EventCounts) -> EventCounts:
        """The events since then, of this process or others. One SQL statement for each workspace."""
        workspaces = self._core.store.workspaces()
        kinds, places = Counter[EventKind](), dict[str, int]()
        with self._core.store.read() as tx:
            for workspace in workspaces:
                places[workspace], found = tx.totals.event_counts(workspace, before.places.get(workspace, 0))
                kinds.update(found)
        return EventCounts(kinds, places)
