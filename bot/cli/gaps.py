"""`goodbot gaps`: lists questions that the bot could not answer."""

import click

from bot.cli.session import Result, memory_command, workspace_option, workspaces_named
from bot.conversation.reply import short
from memory.rules.retrieval.prompt import shown_line
from memory.services import Memory


@click.command()
@workspace_option
@click.option(
    "--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="How many for each workspace."
)
@memory_command
def gaps(memory: Memory, workspace: str, limit: int) -> Result:
    """Show what to teach next: questions nobody could answer, those first whose answers settle most of them."""
    names = workspaces_named(memory, workspace)
    found = {name: memory.gaps.find(name, limit=limit) for name in names}
    lines = [
        line
        for name, some in found.items()
        if some
        for line in (
            shown_line(name, 120),
            *(f"  {gap.asked:>4}  [{short(gap.episode.id)}]  “{shown_line(gap.episode.goal, 90)}”" for gap in some),
        )
    ]
    values = {
        name: [
            {"question": gap.episode.goal, "id": gap.episode.id, "asked": gap.asked, "like": [e.goal for e in gap.like]}
            for gap in some
        ]
        for name, some in found.items()
    }
    return Result(values, "\n".join(lines) or "Every question was answered, as far as is known.")
