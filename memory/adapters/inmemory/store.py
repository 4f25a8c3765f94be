"""A store that lives and dies with the process."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock, get_ident

from memory.adapters.inmemory.channels import Channels
from memory.adapters.inmemory.deliveries import Deliveries
from memory.adapters.inmemory.episodes import Episodes
from memory.adapters.inmemory.log import Log
from memory.adapters.inmemory.retrievals import Retrievals
from memory.adapters.inmemory.state import Access, State
from memory.adapters.inmemory.steps import ShortMemories, Steps
from memory.adapters.inmemory.teaching import Teaching
from memory.adapters.inmemory.upkeep import Upkeep
from memory.adapters.inmemory.world import World
from memory.errors import StoreUnavailable
from memory.model.upkeep import DamagedRow
from memory.ports import Transaction


class InMemoryTransaction:
    """The tables of one transaction."""

    def __init__(self, access: Access) -> None:
        self.episodes = Episodes(access)
        self.log = Log(access)
        self.teaching = Teaching(access)
        self.channels = Channels(access)
        self.deliveries = Deliveries(access)
        self.retrievals = Retrievals(access)
        self.world = World(access)
        self.steps = Steps(access)
        self.short = ShortMemories(access)
        self.upkeep = Upkeep(access)


class InMemoryStore:
    """`memory.ports.Store` in dictionaries.

    A committed state is never changed: a writer works on a copy that takes its place at the end, so readers need no
    lock and keep what they began with. Costs a copy of the dictionaries per writing transaction.
    """

    def __init__(self) -> None:
        self._committed = State()
        self._one_writer = RLock()
        self._writer: int | None = None
        self._is_closed = False

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with self._one_writer:
            self._require_open()
            if self._writer == get_ident():
                raise RuntimeError("a writing transaction inside another one of the same thread can never commit")
            self._writer = get_ident()
            access = Access(self._committed.copy(), writes=True)
            try:
                yield InMemoryTransaction(access)
                self._committed = access.state
            finally:
                self._writer = None
                access.end()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        self._require_open()
        access = Access(self._committed, writes=False)
        try:
            yield InMemoryTransaction(access)
        finally:
            access.end()

    def workspaces(self) -> list[str]:
        self._require_open()
        state = self._committed
        tables = (state.episodes, state.incoming, state.outgoing, state.topics)
        return sorted({key[0] for table in tables for key in table})

    def erase_free_space(self) -> None:
        self._require_open()

    def damage(self, *, limit: int) -> list[DamagedRow]:
        return []  # nobody else can change it

    def close(self) -> None:
        self._is_closed = True

    def _require_open(self) -> None:
        if self._is_closed:
            raise StoreUnavailable("This store is closed; open a new one.")
