"""`goodbot jobs list` and `goodbot jobs run`."""

import sys

import click

from bot.cli.session import json_option, memory_of, print_json, say
from bot.cli.table import print_table
from memory.services.upkeep import JobState


@click.group()
def jobs() -> None:
    """What keeps memory in shape: see when each job ran, or run one now."""


@jobs.command("list")
@json_option
@click.pass_context
def list_jobs(ctx: click.Context, as_json: bool) -> None:
    """Every job, how often it runs, when it last ran and how that went."""
    with memory_of(ctx) as memory:
        states = memory.upkeep.states()
    if as_json:
        print_json([_plain(state) for state in states])
        return
    rows = [[state.job.name, _every(state), _last(state), _outcome(state), state.job.what] for state in states]
    print_table(["job", "every", "last run", "outcome", "what it does"], rows)
    owner = states[0].owner
    say(
        f"Run by {owner}."
        if owner
        else "No process runs them now: start `goodbot run`, or use `goodbot jobs run NAME`."
    )


@jobs.command("run")
@click.argument("name")
@json_option
@click.pass_context
def run_job(ctx: click.Context, name: str, as_json: bool) -> None:
    """Run one job now, whether it is due or not. Exit code 1 if it failed."""
    with memory_of(ctx) as memory:
        done = memory.upkeep.run(name)
    if as_json:
        print_json(done)
    else:
        say(f"{done.name}: FAILED: {done.error}" if done.error else f"{done.name}: {done.summary}")
    if done.error:
        sys.exit(1)


def _plain(state: JobState) -> dict[str, object]:
    return {
        "name": state.job.name,
        "what": state.job.what,
        "every_s": state.job.every.total_seconds(),
        "due_at": state.due_at,
        "owner": state.owner,
        "last": state.last,
    }


def _every(state: JobState) -> str:
    hours = state.job.every.total_seconds() / 3600
    return f"{hours:g} h"


def _last(state: JobState) -> str:
    return state.last.started_at.strftime("%Y-%m-%d %H:%M") if state.last else "never"


def _outcome(state: JobState) -> str:
    if state.last is None:
        return ""
    return f"FAILED: {state.last.error}" if state.last.error else state.last.summary
