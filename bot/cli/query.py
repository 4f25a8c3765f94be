"""`goodbot query` and `goodbot stats`: what would be recalled, and how much is stored."""

import click

from bot.cli.session import json_option, memory_of, print_json, say, settings_of, workspace_option
from memory.errors import InvalidInput
from memory.model import Scope, Visibility
from memory.rules.retrieval.prompt import percent, shown_line

_AS_JSON = ("retrieval_id", "goal", "exemplars", "counts", "rules")
"""What of a recall is printed: all but the embedding."""


@click.command()
@click.argument("text")
@click.option("--workspace", default="", help="Ask in this workspace; the terminal's by default.")
@click.option("--channel", default="", help="Ask in this channel.")
@click.option("--person", default="", help="Ask as this person.")
@click.option("--direct", is_flag=True, help="Ask as in a direct message.")
@click.option("--k", type=click.IntRange(1, 50), default=4, show_default=True, help="How many at most.")
@json_option
@click.pass_context
def query(
    ctx: click.Context, *, text: str, workspace: str, channel: str, person: str, direct: bool, k: int, as_json: bool
) -> None:
    """Show which lessons a question would be answered with, for one person in one place. Changes nothing."""
    from dataclasses import replace

    if not text.strip():
        raise InvalidInput("there is nothing to look for: give the question as people would ask it")
    terminal = settings_of(ctx).terminal
    scope = Scope(
        workspace=workspace or terminal.workspace,
        channel=channel or terminal.channel,
        person=person or terminal.person,
        visibility=Visibility.DIRECT if direct else Visibility.PUBLIC,
    )
    with memory_of(ctx) as memory:
        config = replace(memory.recalling.config, final_k=k)
        context = frozenset({f"platform:{scope.platform}", f"channel:{scope.channel}", f"person:{scope.person}"})
        recollection = memory.recalling.recall(scope, text, context=context, config=config)
    if as_json:
        print_json({name: getattr(recollection, name) for name in _AS_JSON})
        return
    if recollection.vector is None:
        say("The embedder failed, so words alone were compared; `goodbot doctor` says why.")
    for exemplar in recollection.exemplars:
        episode = exemplar.episode
        say(
            f"{exemplar.lesson.value:<6} {percent(exemplar.relevance):>3}%  [{episode.id[-8:]}]  "
            f"“{shown_line(episode.goal, 60)}” → {shown_line(episode.correction or episode.output, 80)}"
        )
    if not recollection.exemplars:
        say("Nothing is near enough to be recalled.")
    say(", ".join(f"{name} {value}" for name, value in recollection.counts.as_dict().items()))


@click.command()
@workspace_option
@json_option
@click.pass_context
def stats(ctx: click.Context, workspace: str, as_json: bool) -> None:
    """Count what is remembered, by workspace."""
    with memory_of(ctx) as memory:
        names = [workspace] if workspace else memory.audit.workspaces()
        counts = {name: memory.audit.stats(name) for name in names}
    if as_json:
        print_json(counts)
        return
    if not counts:
        say("Nothing is remembered yet.")
    for name, numbers in counts.items():
        say(shown_line(name, 120))
        for what, number in numbers.items():
            say(f"  {what:<20} {number}")
