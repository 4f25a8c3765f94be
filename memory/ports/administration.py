"""Jobs, leases, rules, batches, API keys and the settings of chat in a store."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memory.model.api_key import ApiKey
from memory.model.batch import Batch, BatchLesson
from memory.model.chat_setting import ChatSetting
from memory.model.upkeep import Erasure, JobProgress, JobRun, Lease, Rule


class ApiKeyTable(Protocol):
    """The keys of each workspace, revoked ones too."""

    def add(self, key: ApiKey) -> bool:
        """Keep a new key; False if the workspace has one of that name."""
        ...

    def put(self, key: ApiKey) -> None:
        """Keep it in place of the one of that name."""
        ...

    def find(self, workspace: str, digest: str) -> ApiKey | None:
        """The key with this digest."""
        ...

    def within(self, workspace: str) -> list[ApiKey]:
        """All keys of a workspace by name."""
        ...

    def erase_person(self, workspace: str, person: str) -> None:
        """Forget who it was that made or revoked keys."""
        ...


class ChatSettingTable(Protocol):
    """At most one value of a name for each channel, and one for the whole workspace."""

    def put(self, setting: ChatSetting) -> None:
        """Keep it; it replaces the value before."""
        ...

    def drop(self, workspace: str, channel: str, name: str) -> None:
        """Nothing is set there any more."""
        ...

    def get(self, workspace: str, channel: str, name: str) -> ChatSetting | None:
        """What is set at this very place."""
        ...

    def within(self, workspace: str, channel: str) -> list[ChatSetting]:
        """What is set for the workspace, and, where it is not empty, for this channel."""
        ...

    def erase_person(self, workspace: str, person: str) -> None:
        """Forget who it was that changed something."""
        ...


class BatchTable(Protocol):
    """Files that lessons were learned from, and which lesson each of their entries became."""

    def put(self, batch: Batch) -> None:
        """Insert a batch, or replace the one with its workspace and id."""
        ...

    def get(self, workspace: str, batch_id: str) -> Batch | None:
        """The batch, or None."""
        ...

    def within(self, workspace: str) -> list[Batch]:
        """Every batch of the workspace, newest first."""
        ...

    def put_lessons(self, *lessons: BatchLesson) -> None:
        """Keep which lesson each entry became, in place of what was kept. Raises `NotFound` without the batch."""
        ...

    def lessons(self, workspace: str, *batch_ids: str) -> list[BatchLesson]:
        """Those of these batches, in the order they were learned."""
        ...

    def of_lessons(self, workspace: str, lesson_ids: Iterable[str]) -> dict[str, BatchLesson]:
        """What is kept of these lessons, by id; lessons of no batch are left out."""
        ...

    def known(self, workspace: str, keys: Iterable[str]) -> set[str]:
        """Those of these keys that were learned before."""
        ...

    def drop(self, workspace: str, keys: Collection[str]) -> None:
        """Forget that these were learned: a file may bring them again."""
        ...

    def erase_person(self, workspace: str, person: str) -> None:
        """Keep no longer that this person gave a file."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedMessage:
    """A message whose turn it is, with what its process has to know."""

    workspace: str
    event_id: str
    holder_before: str = ""
    """The process that had it before, and is gone; empty if none had."""
    is_stopped: bool = False
    """Whether somebody asked to end with what there is."""

    @property
    def key(self) -> tuple[str, str]:
        """Of the message."""
        return self.workspace, self.event_id


class ConversationLeaseTable(Protocol):
    """A process lives as long as its lease, `process/NAME` (`UpkeepTable`), has not run out.

    A conversation is leased to the process that holds the message whose turn it is there; it is free once that message
    is delivered, left or given up, or the process has died.
    """

    def take(self, process: str, workspace: str, now: datetime, limit: int) -> list[LeasedMessage]:
        """Give this process its turns: of messages that it holds and that waited, and of those that nobody alive holds.

        The first of a conversation goes before the others, and nobody has a turn there beside it. What is being
        changed this very moment is passed over.
        """
        ...

    def unfinished_in(self) -> set[str]:
        """The workspaces with messages that are unfinished, whoever holds them."""
        ...

    def held(self, process: str) -> list[LeasedMessage]:
        """Whose turn it is by this process, as far as they are unfinished, the oldest first."""
        ...

    def leave(self, process: str, messages: Collection[tuple[str, str]]) -> None:
        """Hold up nobody with these any more (workspace and event id)."""
        ...

    def stop(self, workspace: str, event_id: str) -> bool:
        """Ask whoever works on this message to end with what there is. False if its turn is over."""
        ...

    def announce(self, news: str) -> None:
        """Wake the processes that listen, once this is committed; where none can, nothing happens."""
        ...

    def release_dead(self, now: datetime) -> None:
        """Take every lease from the processes that have died, so that the living need not wait for its end."""
        ...

    def alive(self, now: datetime) -> list[str]:
        """The processes that answer, by name."""
        ...


class UpkeepTable(Protocol):
    """Jobs and leases belong to the whole database; progress, rules and erasures to a workspace."""

    def take_lease(self, lease: Lease, now: datetime) -> bool:
        """Take or renew it. False while another owner's has not run out."""
        ...

    def release_lease(self, name: str, owner: str) -> None:
        """Give it back, if it is this owner's."""
        ...

    def lease(self, name: str) -> Lease | None:
        """The lease as it was last taken, run out or not."""
        ...

    def leases(self, beginning: str) -> list[Lease]:
        """Those whose names begin so, run out or not, by name."""
        ...

    def put_job_run(self, run: JobRun) -> None:
        """Keep a job's last run; it replaces the one before."""
        ...

    def job_runs(self) -> list[JobRun]:
        """The last run of every job that ever ran, by name."""
        ...

    def put_progress(self, progress: JobProgress) -> None:
        """Keep how far a job is in a workspace; it replaces what was kept."""
        ...

    def progress(self, workspace: str, job: str) -> JobProgress | None:
        """How far the job is there; None if it never was there."""
        ...

    def drop_progress(self, workspace: str, job: str) -> None:
        """As if the job had never been there."""
        ...

    def set_rules(self, workspace: str, rules: Sequence[Rule]) -> None:
        """Replace the workspace's rules."""
        ...

    def rules(self, workspace: str, ids: Collection[str] | None = None) -> list[Rule]:
        """Those of these rules that there are, or all, by id."""
        ...

    def put_erasure(self, erasure: Erasure) -> None:
        """Note that an erasure is under way, or how far it is."""
        ...

    def erasures(self) -> list[Erasure]:
        """Those under way in every workspace, by workspace and id."""
        ...

    def end_erasure(self, erasure: Erasure) -> None:
        """Nothing of it is left to do."""
        ...
