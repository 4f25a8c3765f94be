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
        """Store a new key; False if the workspace has one of that name."""

    def put(self, key: ApiKey) -> None:
        """Store a key in place of the one of that name."""

    def find(self, workspace: str, digest: str) -> ApiKey | None:
        """The key with this digest."""

    def within(self, workspace: str) -> list[ApiKey]:
        """All keys of a workspace by name."""

    def erase_person(self, workspace: str, person: str) -> None:
        """Erase the person as maker or revoker of keys."""


class ChatSettingTable(Protocol):
    """At most one value of a name for each channel, and one for the whole workspace."""

    def put(self, setting: ChatSetting) -> None:
        """Store a setting; it replaces the value before."""

    def drop(self, workspace: str, channel: str, name: str) -> None:
        """Delete the setting of this name at this place."""

    def get(self, workspace: str, channel: str, name: str) -> ChatSetting | None:
        """The setting of this name at exactly this place."""

    def within(self, workspace: str, channel: str) -> list[ChatSetting]:
        """The settings of the workspace and, if `channel` is not empty, of this channel."""

    def erase_person(self, workspace: str, person: str) -> None:
        """Erase the person as author of changes."""


class BatchTable(Protocol):
    """The imported files, and which lesson each of their entries became."""

    def put(self, batch: Batch) -> None:
        """Insert a batch, or replace the one with its workspace and id."""

    def get(self, workspace: str, batch_id: str) -> Batch | None:
        """The batch, or None."""

    def within(self, workspace: str) -> list[Batch]:
        """Every batch of the workspace, newest first."""

    def put_lessons(self, *lessons: BatchLesson) -> None:
        """Store which lesson each entry became, replacing earlier rows. Raises `NotFound` without the batch."""

    def lessons(self, workspace: str, *batch_ids: str) -> list[BatchLesson]:
        """The lessons of these batches, in order of import."""

    def of_lessons(self, workspace: str, lesson_ids: Iterable[str]) -> dict[str, BatchLesson]:
        """The rows of these lessons, by lesson id; lessons of no batch are left out."""

    def known(self, workspace: str, keys: Iterable[str]) -> set[str]:
        """Those of these keys that were imported before."""

    def drop(self, workspace: str, keys: Collection[str]) -> None:
        """Delete these keys, so that a file may bring them again."""

    def erase_person(self, workspace: str, person: str) -> None:
        """Erase the person as importer of files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedMessage:
    """A message whose turn it is, with what its process must know."""

    workspace: str
    event_id: str
    holder_before: str = ""
    """The dead process that had it before; empty if there was none."""
    is_stopped: bool = False
    """Whether a person asked to stop with what there is."""

    @property
    def key(self) -> tuple[str, str]:
        """The key of the message: workspace and event id."""
        return self.workspace, self.event_id


class ConversationLeaseTable(Protocol):
    """The turns of messages among processes. A process is alive while its lease, `process/NAME`, has not expired.

    A conversation is leased to the process that holds the message whose turn it is there; it is free once that message
    is delivered, left or given up, or the process has died.
    """

    def take(self, process: str, workspace: str, now: datetime, limit: int) -> list[LeasedMessage]:
        """Give this process turns: for waiting messages that it holds, and for those that no live process holds.

        In each conversation only the first message has a turn. Rows locked by another transaction are skipped.
        """

    def unfinished_in(self) -> set[str]:
        """The workspaces with unfinished messages, whoever holds them."""

    def held(self, process: str) -> list[LeasedMessage]:
        """The unfinished messages whose turn this process has, oldest first."""

    def leave(self, process: str, messages: Collection[tuple[str, str]]) -> None:
        """Let these messages (workspace and event id) block their conversations no longer."""

    def stop(self, workspace: str, event_id: str) -> bool:
        """Ask the process that answers this message to stop with what it has. False if its turn is over."""

    def announce(self, news: str) -> None:
        """Notify the listening processes on commit; does nothing in a store that cannot."""

    def release_dead(self, now: datetime) -> None:
        """Release the leases of processes that are known to be dead, so that others need not wait for their end."""

    def alive(self, now: datetime) -> list[str]:
        """The live processes, by name."""


class UpkeepTable(Protocol):
    """Jobs and leases belong to the whole database; progress, rules and erasures to a workspace."""

    def take_lease(self, lease: Lease, now: datetime) -> bool:
        """Take or renew a lease. False while another owner's has not expired."""

    def release_lease(self, name: str, owner: str) -> None:
        """Release a lease, if this owner holds it."""

    def lease(self, name: str) -> Lease | None:
        """The lease as last taken, expired or not."""

    def leases(self, beginning: str) -> list[Lease]:
        """The leases whose names begin so, expired or not, by name."""

    def put_job_run(self, run: JobRun) -> None:
        """Store a job's last run; it replaces the one before."""

    def job_runs(self) -> list[JobRun]:
        """The last run of every job that ever ran, by name."""

    def put_progress(self, progress: JobProgress) -> None:
        """Store a job's progress in a workspace; it replaces the one before."""

    def progress(self, workspace: str, job: str) -> JobProgress | None:
        """The job's progress there; None if there is none."""

    def drop_progress(self, workspace: str, job: str) -> None:
        """Delete the job's progress there."""

    def set_rules(self, workspace: str, rules: Sequence[Rule]) -> None:
        """Replace the workspace's rules."""

    def rules(self, workspace: str, ids: Collection[str] | None = None) -> list[Rule]:
        """The rules with these ids that exist, or all, ordered by id."""

    def put_erasure(self, erasure: Erasure) -> None:
        """Store an erasure in progress, or its new state."""

    def erasures(self) -> list[Erasure]:
        """The erasures in progress in all workspaces, by workspace and id."""

    def end_erasure(self, erasure: Erasure) -> None:
        """Delete an erasure that is finished."""
