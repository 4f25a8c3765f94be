"""The checks behind `/readyz`: the database, its schema, the embedder, each platform, the lease of the jobs."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from bot.adapters.web.health import Check
from bot.app.processes.logins import lease_name
from bot.app.processes.platform_runner import PlatformRunner
from bot.app.processes.shards import ShardKeeper, group_of, named
from bot.app.processes.sharing import shared_platforms
from bot.config import Settings
from bot.conversation.counts import count
from bot.errors import NotReady
from bot.ports import KnowsConnection
from memory.services import Memory

PLATFORMS = ("slack", "discord")
OVERDUE = timedelta(minutes=15)
"""How late a job may be before it is reported."""


def checks_of(settings: Settings, memory: Memory, runners: Sequence[PlatformRunner] = ()) -> tuple[Check, ...]:
    """All checks. `runners` are the platforms of this process; those of other processes are looked up in the database.

    A process that stands by for another one is ready: the states of platforms and jobs are reported, but do not make it
    unready, because HTTP requests are answered without them.
    """
    by_platform = {runner.messenger.platform: runner for runner in runners}
    return (
        Check("database", lambda: count(len(memory.audit.workspaces()), "workspace")),
        Check("migrations", memory.store.schema),
        Check("embedder", partial(_embedder, memory)),
        *(
            Check(name, partial(_platform, settings, memory, name, by_platform.get(name)), is_needed=False)
            for name in PLATFORMS
        ),
        Check("scheduler", partial(_scheduler, settings, memory), is_needed=False),
    )


def _embedder(memory: Memory) -> str:
    memory.embedder.embed(["ready?"])
    return memory.embedder.name


def _platform(settings: Settings, memory: Memory, platform: str, runner: PlatformRunner | None) -> str:
    lease = lease_name(settings, platform)
    if not lease:
        return "not configured"
    if runner is None or not runner.login.is_held:
        is_shared = platform in shared_platforms(settings)
        if not (memory.conversation_leases.processes() if is_shared else memory.leases.holder(lease)):
            raise NotReady("no process is connected")
        return "another process is connected"
    messenger = runner.messenger
    if isinstance(messenger, KnowsConnection) and not messenger.is_connected:
        raise NotReady("this process is not connected now, and tries again")
    return "connected here" if runner.shards is None else _shards(settings, memory, runner.shards)


def _shards(settings: Settings, memory: Memory, keeper: ShardKeeper) -> str:
    number = settings.discord.shards
    free = frozenset(range(number)) - memory.shared_leases.holders(group_of(settings)).keys()
    if free:
        raise NotReady(f"no process serves {named(free)} of {number}")
    return f"{named(keeper.held)} of {number} here"


def _scheduler(settings: Settings, memory: Memory) -> str:
    jobs = memory.upkeep.states()
    late = [each for each in jobs if memory.clock() - each.due_at > OVERDUE and each.last is not None]
    if late:
        raise NotReady(f"no process ran the job {late[0].job.name}, due since {late[0].due_at:%Y-%m-%d %H:%M} UTC")
    lease = "held" if jobs[0].owner else "free"
    here = "" if settings.upkeep.jobs == "on" else "; jobs are off here"
    return f"lease {lease}; next job due {min(each.due_at for each in jobs):%Y-%m-%d %H:%M} UTC{here}"
