"""The maintenance jobs: what each does, how often, and when it last ran.

A job is a function of the store and the time that may be run twice or interrupted anywhere. A lease in the database
decides which process runs it, so several may be ready. Missed runs are made up for once.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memory.errors import InvalidInput
from memory.model import EventKind
from memory.model.upkeep import JobRun, UpkeepPolicy
from memory.ports import EpisodeFilter
from memory.rules.consolidation import rules_of
from memory.services.core import Core, event_of_workspace
from memory.services.privacy.erasing import erase_run, overwrite_erased
from memory.services.privacy.forget import Privacy
from memory.services.recall.confusion import JOB as CONFUSION, ConfusionEstimate
from memory.services.topics import World
from memory.services.upkeep.leases import Leases
from memory.services.upkeep.merge import merge_duplicates
from memory.services.upkeep.reembedding import Reembedding
from memory.services.upkeep.retention import erasable_runs, may_be_erased
from memory.services.upkeep.workspaces import Workspaces, failure_text
from memory.services.verdicts.archive import archive_idle

log = logging.getLogger(__name__)

EMBEDDED_AT_ONCE = 2_000
"""How many texts one run of the job embeds, so that it ends well before its lease."""
ESTIMATED_FOR = timedelta(minutes=1)
"""For how long one run estimates confusion, for the same reason. The next run continues."""
LEASE = "upkeep"
LEASE_FOR = timedelta(minutes=3)
"""How long a dead process blocks its jobs for others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job. `run` returns a short text about what it did."""

    name: str
    every: timedelta
    what: str
    run: Callable[[Core, UpkeepPolicy, datetime], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A job with its last run and when the next one is due."""

    job: Job
    last: JobRun | None
    due_at: datetime
    owner: str
    """The process that holds the lease now; empty if there is none."""


def _sweep(core: Core, policy: UpkeepPolicy, now: datetime) -> str:
    with core.store.write() as tx:
        ledger, short = tx.teaching.sweep_ledger(now), tx.short.sweep(now)
        claims = tx.log.sweep_claims(now - policy.claims_kept)
        mutes = tx.channels.sweep_mutes(now - policy.mutes_kept)
        tx.totals.sweep_spent(now.astimezone(UTC).date())
    finished = Privacy(core).finish()
    swept = f"{ledger} ledger rows, {short} short memories, {claims} event ids, {mutes} muted threads"
    return f"{swept}; {finished} erasures ended"


def _retain(core: Core, policy: UpkeepPolicy, now: datetime) -> str:
    def erase(workspace: str) -> int:
        erased = 0
        for run_id in erasable_runs(core.store, workspace, now, policy):
            with core.store.write() as tx:
                # Read again, as somebody may have judged it meanwhile.
                nodes = tx.episodes.of_run(workspace, run_id)
                if nodes and may_be_erased(tx, workspace, run_id, nodes, now, policy):
                    erased += bool(erase_run(core, tx, workspace, run_id))
        return erased

    work = Workspaces()
    if erased := sum(work.each(core.store.workspaces(), erase).values()):
        overwrite_erased(core.store)
    return work.summary(f"{erased} answers nobody judged")


def _archive(core: Core, policy: UpkeepPolicy, now: datetime) -> str:
    work = Workspaces()
    found = work.each(core.store.workspaces(), lambda workspace: archive_idle(core.store, workspace, now, policy))
    return work.summary(f"{sum(found.values())} lessons archived")


def _join(core: Core, policy: UpkeepPolicy, now: datetime) -> str:
    work = Workspaces()
    found = work.each(core.store.workspaces(), lambda workspace: merge_duplicates(core.store, workspace, now)).values()
    joined, parted = (sum(each[place] for each in found) for place in (0, 1))
    return work.summary(f"{joined} lessons joined, {parted} parted")


def _consolidate(core: Core, policy: UpkeepPolicy, now: datetime) -> str:
    def find(workspace: str) -> int:
        with core.store.write() as tx:
            rules = rules_of(workspace, tx.episodes.search(workspace, EpisodeFilter(limit=None)), policy.rule_from)
            tx.upkeep.set_rules(workspace, rules)
        return len(rules)

    work = Workspaces()
    return work.summary(f"{sum(work.each(core.store.workspaces(), find).values())} rules")


def _topics(core: Core, policy: UpkeepPolicy, now: datetime) -> str:
    world = World(core.store, core.embedder, clock=core.clock, new_id=core.new_id, clean=core.redactor.text)
    work = Workspaces()
    found = work.each(
        core.store.workspaces(), lambda workspace: (len(world.revise(workspace)), len(world.forget_idle(workspace)))
    ).values()
    joined, archived = (sum(each[place] for each in found) for place in (0, 1))
    return work.summary(f"{joined} topics joined, {archived} archived")


def _embed(core: Core, policy: UpkeepPolicy, now: datetime) -> str:
    done = Reembedding(core).run(limit=EMBEDDED_AT_ONCE)
    rest = f"; {done.waiting} wait, `goodbot reembed` does them now" if done.waiting else ""
    return f"{done.episodes} episodes and {done.topics} topics embedded{rest}"


def _confusion(core: Core, policy: UpkeepPolicy, now: datetime) -> str:
    estimate = ConfusionEstimate.of(core)
    work = Workspaces()
    since = work.each(core.store.workspaces(), estimate.waits_since)
    waiting = deque(name for _, name in sorted((at, name) for name, at in since.items() if at is not None))

    def in_time() -> Iterator[str]:
        while waiting and core.clock() < now + ESTIMATED_FOR:
            yield waiting.popleft()

    done = work.each(in_time(), estimate.update)
    rest = f"; {len(waiting)} wait" if waiting else ""
    return work.summary(f"{len(done)} workspaces where something changed{rest}")


JOBS = (
    Job(name="sweep", every=timedelta(hours=1), what="delete what has expired, finish erasures", run=_sweep),
    Job(name="retain", every=timedelta(days=1), what="erase old answers that nobody judged", run=_retain),
    Job(name="archive", every=timedelta(days=1), what="archive weak lessons that nothing uses any more", run=_archive),
    Job(name="join", every=timedelta(days=1), what="join equal lessons", run=_join),
    Job(name="topics", every=timedelta(days=1), what="join equal topics, archive unused ones", run=_topics),
    Job(name="embed", every=timedelta(minutes=10), what="embed what has no vector of this embedder", run=_embed),
    Job(name="consolidate", every=timedelta(hours=6), what="make a rule of many similar lessons", run=_consolidate),
    Job(
        name=CONFUSION,
        every=timedelta(minutes=10),
        what="estimate how often what was taught is confused, where that changed, once an hour",
        run=_confusion,
    ),
)


def _due_at(job: Job, last: JobRun | None, now: datetime) -> datetime:
    """When the job is due: now if it never ran, or if its last run lies in the future because the clock was ahead."""
    return now if last is None or last.started_at > now else last.started_at + job.every


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Runs the jobs and records their runs."""

    _core: Core
    _policy: UpkeepPolicy

    def states(self) -> list[JobState]:
        """The states of all jobs, in the order in which they run."""
        now = self._core.clock()
        with self._core.store.read() as tx:
            last = {run.name: run for run in tx.upkeep.job_runs()}
            lease = tx.upkeep.lease(LEASE)
        owner = lease.owner if lease is not None and lease.until > now else ""
        return [
            JobState(
                job=job,
                last=last.get(job.name),
                due_at=_due_at(job, last.get(job.name), now),
                owner=owner,
            )
            for job in JOBS
        ]

    def due(self, name: str) -> bool:
        """Whether the job is due. Missed runs count once."""
        return any(state.job.name == name and state.due_at <= self._core.clock() for state in self.states())

    def drop_erased(self) -> None:
        """Drop what this process has cached and another one has erased. Each process does this, without the lease."""
        self._core.store.drop_erased()

    def hold(self, owner: str) -> bool:
        """Take or renew the lease. False while another process holds it."""
        return Leases(self._core).hold(LEASE, owner, LEASE_FOR)

    def release(self, owner: str) -> None:
        """Give up the lease."""
        Leases(self._core).release(LEASE, owner)

    def run(self, name: str, *, workspace: str = "", actor: str = "") -> JobRun:
        """Run a job now, due or not, and record the run. A failure is recorded and logged, not raised.

        With an `actor`, the log of their workspace records that they ran it. Raises `InvalidInput` for an unknown name.
        """
        job = next((job for job in JOBS if job.name == name), None)
        if job is None:
            raise InvalidInput(f"there is no job {name!r}; there are {', '.join(job.name for job in JOBS)}")
        started = self._core.clock()
        summary = failure = ""
        try:
            summary = job.run(self._core, self._policy, started)
        except Exception as error:
            log.error("job %s failed: %s", name, error, exc_info=error)
            failure = failure_text(error)
        done = JobRun(name=name, started_at=started, finished_at=self._core.clock(), summary=summary, error=failure)
        with self._core.store.write() as tx:
            tx.upkeep.put_job_run(done)
            if actor:
                tx.log.append(event_of_workspace(workspace, EventKind.JOB_RUN, actor, done.finished_at, {"job": name}))
        return done

    def run_due(self, name: str, owner: str) -> JobRun | None:
        """Run a job if it is due and this owner holds the lease or can take it."""
        return self.run(name) if self.due(name) and self.hold(owner) else None
