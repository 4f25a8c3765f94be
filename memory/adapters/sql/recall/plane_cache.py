"""Cache of the plane files of a database's large partitions: made in the background, and shared by processes.

A file is valid if the database stores its token, and its epoch is the current one. So files of a restored backup, of
another database, and of a process that was killed while writing are invalid. Erased content leaves the files too: it
invalidates all planes of its workspace, `erase` removes all invalid files, and a file made of rows that were read
before can never become valid.
"""

import ctypes
import errno
import logging
import os
import secrets
import shutil
from collections import OrderedDict
from collections.abc import Callable, Iterator, Set
from contextlib import AbstractContextManager, suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock, Thread

from cachetools import LRUCache

from memory.adapters.private_files import is_locked, locked_file, make_folder
from memory.adapters.sql.recall.index import EPOCH, PLANES
from memory.adapters.sql.recall.partition_cache import Key
from memory.adapters.sql.recall.partition_copies import RowSample, sample
from memory.adapters.sql.transaction.session import Session
from memory.adapters.vectors import planes as plane_files
from memory.adapters.vectors.plane_rows import RowBatch, kind_number, row_batch
from memory.adapters.vectors.planes import Planes
from memory.errors import MemoryFault

log = logging.getLogger(__name__)

_FROM = "FROM recall_index WHERE workspace = ? AND partition = ? AND model = ? AND length(vector) = ?"
_COUNT = f"SELECT count(*) {_FROM}"
_ROWS = f"SELECT seq, episode_id, audience, verdict, action, vector {_FROM} ORDER BY seq"
_NEWEST = "SELECT coalesce(max(seq), 0) FROM recall_index WHERE workspace = ? AND partition = ?"
_COUNTER = "SELECT value FROM counters WHERE workspace = ? AND name = ?"
_PUT_COUNTER = (
    "INSERT INTO counters (workspace, name, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"
)
MOST_BYTES = 320 * 2**20
"""The most bytes of files that stay mapped, without vectors; others are mapped again when they are used."""
_BATCH = 1024
"""Rows that are read at once to make planes, to limit the memory, which is not all given back."""
_SAMPLED = 1024
"""Rows of a large partition that are sampled for the actions they approve, roughly."""
_MOST_SAMPLES = 200
"""The most partitions whose samples are kept, by last use: 100 to 300 KB each."""
_SEARCHES_UNTIL_RETRY = 100
"""How many searches pass before a failed build is retried."""
_PART, _OLD = ".part", ".old"


class PlaneCache:
    """Planes by partition; the least recently used are dropped above `MOST_BYTES`. Safe for threads."""

    def __init__(self, database: Path, begin: Callable[[bool], AbstractContextManager[Session]]) -> None:
        database = database.resolve()  # links to it use the same files
        self._folder = database.with_name(f"{database.name}-planes")
        self._begin = begin
        self._ready: OrderedDict[Key, Planes] = OrderedDict()
        self._samples: LRUCache[Key, tuple[int, RowSample]] = LRUCache(_MOST_SAMPLES)
        """Samples, each with the token of its planes, which were checked."""
        self._building: dict[Key, Thread] = {}
        self._rejected = set[int]()
        self._failed: dict[Key, int] = {}
        """The number of searches until a failed build is retried."""
        self._erasures = 0
        """How often something was dropped because of an erasure."""
        self._lock = Lock()
        self._is_closed = False

    def held(self, key: Key) -> Planes | None:
        """The cached planes, which were valid when they were last looked up; None if they are not usable."""
        with self._lock:
            if key not in self._ready or not self.is_usable(self._ready[key]):
                return None
            self._ready.move_to_end(key)
            return self._ready[key]

    def is_usable(self, planes: Planes) -> bool:
        """Whether the planes were neither erased nor rejected."""
        return planes.is_whole and planes.token not in self._rejected

    def reject(self, planes: Planes) -> None:
        """Mark planes as damaged, so that they are not used any more."""
        self._rejected.add(planes.token)

    def sample(self, key: Key, token: int) -> RowSample | None:
        """The sample of the planes with this token; None until it is read."""
        with self._lock:
            known, found = self._samples.get(key, (0, None))
            return found if known == token else None

    def valid(self, key: Key, token: int, epoch: int) -> Planes | None:
        """The planes with the token and epoch of the database; None if there are no usable ones."""
        held = self.held(key)
        if held is not None and (held.token, held.epoch) == (token, epoch):
            return held
        self._forget(key)
        is_known = self.sample(key, token) is not None
        found = plane_files.read(self._path(key), known=token if is_known else 0) if token else None
        if found is None or (found.token, found.epoch) != (token, epoch) or not self.is_usable(found):
            return None
        with self._lock:
            self._keep(key, found)
        if not is_known:
            self.prepare(key, is_new=False)
        return found

    def prepare(self, key: Key, *, is_new: bool = True) -> None:
        """Make new planes, or only read the sample of the cached ones, in the background, unless that runs already."""
        with self._lock:
            if waits := self._failed.pop(key, 0):
                self._failed[key] = waits - 1
            if waits or key in self._building or self._is_closed:
                return
            work = Thread(target=self._prepared, args=(key, is_new), name="recall-planes", daemon=True)
            self._building[key] = work
        work.start()

    def wait(self) -> None:
        """Wait for the background threads."""
        for work in list(self._building.values()):
            work.join()

    def stop(self) -> None:
        """Start no more builds; running ones give up."""
        self._is_closed = True

    def close(self) -> None:
        """`stop`, wait for running builds, and drop everything."""
        self.stop()
        self.wait()
        self._ready.clear()
        self._samples.clear()

    def drop_workspace(self, workspace: str) -> None:
        """Drop the cached planes and samples of a workspace, after something of it was erased."""
        with self._lock:
            self._erasures += 1
            for kept in (self._ready, self._samples):
                for key in [key for key in kept if key.workspace == workspace]:
                    del kept[key]

    def erase(self, valid: Set[int]) -> None:
        """Erase all files, also unfinished ones of any process, but those with these tokens. Raises `OSError`."""
        with self._lock:
            self._erasures += 1
            tokens = {key: found.token for key, found in self._ready.items()}
            tokens |= {key: token for key, (token, _) in self._samples.items()}
            for key in [key for key, token in tokens.items() if token not in valid]:
                self._ready.pop(key, None)
                self._samples.pop(key, None)
        for path in list(self._folder.iterdir()) if self._folder.is_dir() else ():
            if path.is_file() and plane_files.token_of(path) not in valid:
                plane_files.erase(path)

    def _keep(self, key: Key, found: Planes) -> None:
        self._ready[key] = found
        self._ready.move_to_end(key)
        while len(self._ready) > 1 and sum([each.nbytes for each in self._ready.values()]) > MOST_BYTES:
            self._ready.popitem(last=False)

    def _forget(self, key: Key) -> None:
        with self._lock:
            self._ready.pop(key, None)

    def _prepared(self, key: Key, is_new: bool) -> None:
        erasures = self._erasures
        try:
            found = self._build(key) if is_new else self.held(key)
            if found is not None:
                seqs = found.seqs[:: max(1, len(found) // _SAMPLED)].tolist()
                with self._begin(False) as session:
                    some = sample(session, key, seqs)
                with self._lock:
                    if self._erasures == erasures:
                        self._samples[key] = (found.token, some)
                        self._keep(key, found)
                    else:  # what was read may be erased now; if not, the next search finds the file
                        self._ready.pop(key, None)
        except (OSError, MemoryFault) as fault:
            self._failed[key] = _SEARCHES_UNTIL_RETRY
            if not self._is_closed:
                log.warning("planes of a large partition were not made, so recall is slower: %s", fault)
        finally:
            if is_new:
                _trim_heap()
            with self._lock:
                self._building.pop(key, None)

    def _build(self, key: Key) -> Planes | None:
        token = secrets.randbits(62) + 1
        make_folder(self._folder)
        path = self._path(key)
        self._clean(path)
        part = path.with_name(f"{path.name}.{token:x}{_PART}")
        try:
            # Made before the rows are read, so that `erase` of any process finds it, which ends this build.
            with suppress(FileNotFoundError), locked_file(part):
                if self._is_registered(key, token, self._write(key, token, part), part):
                    return plane_files.read(path)
            return None
        finally:
            plane_files.erase(part)

    def _write(self, key: Key, token: int, part: Path) -> int:
        """Write the planes of the current rows; returns the rows' epoch."""
        with self._begin(False) as session:
            epoch = _first_number(session, _COUNTER, key.workspace, EPOCH)
            newest = _first_number(session, _NEWEST, key.workspace, key.partition)
            most = _first_number(session, _COUNT, *_key_parameters(key))
            self._require_room(plane_files.size_of(most, key.dimension))
            rows = self._batches(session, key, part)
            plane_files.write(part, rows, key.dimension, token=token, epoch=epoch, seq=newest, most=most)
        return epoch

    def _require_room(self, nbytes: int) -> None:
        """Raises `OSError` if a file of this size would take more than half of the free disk space."""
        if 2 * nbytes > shutil.disk_usage(self._folder).free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._folder))

    def _is_registered(self, key: Key, token: int, epoch: int, part: Path) -> bool:
        """Put the file in its place and store its token in the database. False if something was erased meanwhile."""
        path = self._path(key)
        with self._begin(True) as session:
            # After the transaction has begun, which checks whether the database file was replaced.
            if self._is_closed or not part.exists() or _first_number(session, _COUNTER, key.workspace, EPOCH) != epoch:
                return False
            if path.exists():  # running searches may still use it; the next build erases it
                path.replace(path.with_name(f"{path.name}.{token:x}{_OLD}"))
            part.replace(path)
            session.execute(_PUT_COUNTER, (key.workspace, counter_of(key), token))
            return True

    def _clean(self, path: Path) -> None:
        """Erase replaced files, and unfinished ones of killed processes."""
        for left in self._folder.glob(f"{path.name}.*"):
            with suppress(FileNotFoundError):  # by another process
                if left.suffix == _OLD or not is_locked(left):
                    plane_files.erase(left)

    def _batches(self, session: Session, key: Key, part: Path) -> Iterator[RowBatch]:
        for rows in session.batches(_ROWS, _key_parameters(key), _BATCH):
            if self._is_closed or not part.exists():
                return
            with session.readable():
                seqs, ids, *of_kinds, vectors = zip(*rows, strict=True)
                kinds = [kind_number(*each) for each in zip(*of_kinds, strict=True)]
                batch = row_batch(seqs, ids, kinds, vectors)
            yield batch

    def _path(self, key: Key) -> Path:
        return self._folder / f"{_digest(key.workspace)}-{_digest(counter_of(key))}"


def _trim_heap() -> None:
    """Make the C library return freed memory to the system, if it can (glibc)."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def counter_of(key: Key) -> str:
    """The name of the counter that stores the token of the valid planes."""
    return PLANES + _digest(f"{key.partition}\0{key.model}\0{key.dimension}")


def _key_parameters(key: Key) -> tuple[str, str, str, int]:
    return (key.workspace, key.partition, key.model, 2 * key.dimension)


@lru_cache(maxsize=4096)
def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=12).hexdigest()


def _first_number(session: Session, statement: str, *given: object) -> int:
    rows = next(session.batches(statement, given, 1), [])
    return int(rows[0][0]) if rows else 0
