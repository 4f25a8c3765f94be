"""`goodbot jobs list` and `goodbot jobs run`."""

from collections.abc import Sequence
from datetime import timedelta

import click

from bot.cli.output import print_table
from bot.cli.session import Result, memory_command, say
from memory.services import Memory
from memory.services.upkeep import JobState


@click.group()
def jobs() -> None:
    """List the upkeep jobs, with their last runs, or run one now."""


@jobs.command("list")
@memory_command
def list_jobs(memory: Memory) -> Result:
    """Every job, how often it runs, when it last ran and how that went."""
    states = memory.upkeep.states()
    return Result([_plain(state) for state in states], lambda: _print(states))


@jobs.command("run")
@click.argument("name")
@memory_command
def run_job(memory: Memory, name: str) -> Result:
    """Run one job now, whether it is due or not. Exit code 1 if it failed."""
    done = memory.upkeep.run(name)
    outcome = f"FAILED: {done.error}" if done.error else done.summary
    return Result(done, f"{done.name}: {outcome}", has_failed=bool(done.error))


def _plain(state: JobState) -> dict[str, object]:
    return {
        "name": state.job.name,
        "what": state.job.what,
        "every_s": state.job.every.total_seconds(),
        "due_at": state.due_at,
        "owner": state.owner,
        "last": state.last,
    }


def _print(states: Sequence[JobState]) -> None:
    print_table(["job", "every", "last run", "outcome", "what it does"], [_row(state) for state in states])
    if owner := states[0].owner:
        say(f"Run by {owner}.")
    else:
        say("No process runs them now: start `goodbot run`, or use `goodbot jobs run NAME`.")


def _row(state: JobState) -> list[str]:
    last, outcome = "never", ""
    if state.last is not None:
        last = f"{state.last.started_at:%Y-%m-%d %H:%M}"
        outcome = f"FAILED: {state.last.error}" if state.last.error else state.last.summary
    return [state.job.name, _span(state.job.every), last, outcome, state.job.what]


def _span(every: timedelta) -> str:
    minutes = every.total_seconds() / 60
    return f"{minutes / 60:g} h" if minutes >= 60 else f"{minutes:g} min"
