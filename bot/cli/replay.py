"""`goodbot replay`: checks whether approved answers would still be given."""

import asyncio
import sys
from datetime import UTC, datetime

import click

from bot.app.replay import Replay, Replayed, ReplayedAnswer, ReplayRequest, replayed
from bot.cli.output import progress
from bot.cli.query import money
from bot.cli.session import json_option, logged_settings, print_json, say
from bot.conversation.counts import count
from bot.conversation.reply import short_id
from memory.rules.retrieval.prompt import percent, shown_line
from memory.services.recording.spending import Spent

_SHOWN = 90


@click.command()
@click.option(
    "--model", default="", help="Answer with this model (offline, or PROVIDER:NAME); [model] name by default."
)
@click.option("--workspace", default="", help="Answers of this workspace; the terminal's by default.")
@click.option("--channel", default="", help="Only answers given in this channel.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Only answers from this day (UTC) on.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="The newest so many.")
@click.option("--without-own", is_flag=True, help="Leave out the lesson that each answer itself became.")
@click.option(
    "--alike",
    type=click.FloatRange(0, 1),
    default=0.8,
    show_default=True,
    help="From which similarity on two texts mean the same.",
)
@click.option(
    "--allow", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="The share that may be different."
)
@json_option
def replay(
    *,
    model: str,
    workspace: str,
    channel: str,
    since: datetime | None,
    limit: int,
    without_own: bool,
    alike: float,
    allow: float,
    as_json: bool,
) -> None:
    """Answer again what people approved the answers of, and list the answers that are different now.

    Nothing is posted or kept, and tools with effects do not run. Exit code 0: no more answers differ than --allow; 1:
    more do; 2: unknown, because there are no such answers or the model gave none.
    """
    settings = logged_settings()
    wanted = ReplayRequest(
        workspace=workspace or settings.terminal.workspace,
        channel=channel,
        since=since.replace(tzinfo=UTC) if since is not None else None,
        limit=limit,
        without_own=without_own,
        tool_timeout_s=settings.agent.tool_timeout_s,
        similarity=alike,
    )
    with progress("replaying", limit) as step:
        done = asyncio.run(replayed(settings, wanted, model, step))
    total, different = len(done.answers), len(done.different)
    if as_json:
        numbers = {"model": done.model, "replayed": total, "different": different, "left_out": done.left_out}
        print_json({**numbers, "usage": done.usage, "answers": done.answers})
    else:
        _print(done)
    if not total or done.left_out:
        sys.exit(2)
    sys.exit(int(different > allow * total))


def _print(done: Replay) -> None:
    for each in done.different:
        say("\n".join(_lines(each)))
    total, different = len(done.answers), len(done.different)
    if not total:
        say("People approved of no answer there yet.")
        return
    used = done.usage
    spent = Spent(
        answers=total,
        tokens=used.tokens,
        cost_usd=used.cost_usd,
        unpriced_tokens=0 if used.cost_usd else used.tokens,
    )
    cost = f" {money(spent)}." if spent.tokens else ""
    same = f"{total - different} of {count(total, 'answer')} would be the same with {done.model}"
    say(f"{same}, {different} different.{cost}")
    if done.left_out:
        say(f"The model gave no replies, so {count(done.left_out, 'answer')} were not tried; the log says why.")


def _lines(each: Replayed) -> list[str]:
    what = ", ".join(differ.value for differ in each.differs)
    likeness = f" ({percent(each.after.similarity)}% alike)" if each.after.similarity is not None else ""
    return [
        f"[{short_id(each.episode_id)}] “{shown_line(each.goal, _SHOWN)}”: {what}{likeness}",
        f"  approved: {_shown(each.before)}",
        f"  now:      {_shown(each.after) if each.after.text else 'nothing'}",
    ]


def _shown(answer: ReplayedAnswer) -> str:
    deeds = "; ".join(
        f"{deed.tool}({', '.join(f'{name}={value!r}' for name, value in deed.arguments.items())})"
        for deed in answer.deeds
    )
    return shown_line(f"{deeds} → {answer.text}" if deeds else answer.text, 2 * _SHOWN)
