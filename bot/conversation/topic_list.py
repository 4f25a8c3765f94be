"""What is known about things, as `memory` shows it: a few lines below the lessons, and all of it page by page."""

from dataclasses import replace

from bot.agent.tools.topic_words import summary_line
from bot.conversation.command_context import CommandContext
from bot.conversation.messages import titled
from bot.conversation.reply import CommandReply, page_of, window
from bot.model import Choice

TOPICS = "topics"
_BESIDE = 3
"""How many stand below the lessons."""
_NONE = "Nothing is noted about things here yet. Tell me, for example: the owner of the deploy is now Bianca."


def beside_lessons(context: CommandContext) -> CommandReply:
    """The first few topics, to go below the lessons, with a choice for the rest; nothing where there are none."""
    known = context.memory.facts.listed(context.scope)
    if not known:
        return CommandReply(text="")
    lines = [f"- {summary_line(each)}" for each in known[:_BESIDE]]
    more = Choice(label=f"All {len(known)} things", command="memory", argument=TOPICS)
    text = titled("What is noted about things", lines, "")
    return CommandReply(text=f"\n\n{text}", choices=(more,) if len(known) > _BESIDE else ())


def show(context: CommandContext, number: int) -> CommandReply:
    """`memory topics [page N]`."""
    known = context.memory.facts.listed(context.scope)
    page = page_of(known[window(len(known), number)], len(known), number)
    lines = page.numbered([summary_line(each) for each in page.items])
    text = titled("What is noted about things", lines, page.place) if known else _NONE
    turning = [replace(each, argument=f"{TOPICS} {each.argument}") for each in page.page_choices("memory")]
    return CommandReply(text=text, choices=tuple(turning))
