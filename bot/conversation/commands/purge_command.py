"""The command `purge`: takes back everything that one person taught, after a preview."""

import re
from dataclasses import replace

from bot.conversation.commands.command_context import CommandContext
from bot.conversation.counts import count, counts
from bot.conversation.messages import sentence
from bot.conversation.reply import CommandReply
from bot.model import Choice
from memory.errors import InvalidInput
from memory.rules.retrieval.prompt import shown_line
from memory.services import Purge

_MENTION = re.compile(r"<@[!]?(?P<id>[^>|\s]+)(?:\|[^>]*)?>")
_YES = re.compile(r"(?<!\s)\s++yes\Z", re.IGNORECASE)


def purge_usage(command: str) -> str:
    """The reply to `purge` without a person."""
    return f"Whose lessons? `{command}` shows first how much it is."


def nothing_to_purge(person: str) -> str:
    """The reply if there is nothing to purge of this person."""
    return f"I find nothing taught by {shown_line(person, 40)} that still counts. (I look for the person's id.)"


def purge_question(planned: Purge, command: str) -> str:
    """The question before everything that a person taught is withdrawn."""
    return (
        f"This takes back what {shown_line(planned.taught_by, 40)} taught me: {purge_counts(planned)}. It all stays "
        f"in my log, but nothing of it counts any more. To go ahead: `{command}`"
    )


def purged_message(done: Purge) -> str:
    """The confirmation of a purge."""
    return f"Taken back from {shown_line(done.taught_by, 40)}: {purge_counts(done)}."


def purge_counts(purge: Purge) -> str:
    """The counts of what a purge takes back."""
    taken = counts(
        (purge.votes, "vote"),
        (purge.lessons, "lesson"),
        (purge.corrections, "correction"),
        (purge.promotions, "promotion"),
        (purge.shelved, "archived or restored lesson"),
        (purge.released, "released lesson"),
        (purge.grades, "grade"),
        (purge.values, "topic value"),
        (purge.topics, "topic"),
        (purge.permissions, "permission"),
    )
    rest = f"; and {count(purge.unlearned, 'other lesson')} that rested on it back to pending"
    return f"{taken}{rest if purge.unlearned else ''}"


def read_argument(argument: str) -> tuple[str, bool]:
    """`PERSON [yes]`: the person's id, and whether `yes` confirms it.

    The person is written as `<@U123>`, `<@!123>`, `<@U123|ana>`, `@U123` or `U123`.
    """
    text = argument.strip()
    person = _YES.sub("", text).strip()
    mention = _MENTION.fullmatch(person)
    is_confirmed = _YES.search(text) is not None
    return mention["id"] if mention else person.removeprefix("@").strip(), is_confirmed


def purge(context: CommandContext) -> CommandReply:
    """`purge PERSON [yes]`: without `yes` it only counts and asks."""
    person, is_confirmed = read_argument(context.argument)
    if not person:
        return CommandReply(text=purge_usage(context.how_to_type("purge PERSON")))
    try:
        reply = _purge(context, person) if is_confirmed else _ask(context, person)
        return replace(reply, people=(person,))
    except InvalidInput as error:
        return CommandReply(text=sentence(error))


def _ask(context: CommandContext, person: str) -> CommandReply:
    planned = context.memory.purging.plan(context.scope.workspace, person, role=context.role)
    if planned.is_empty:
        return CommandReply(text=nothing_to_purge(person))
    choice = Choice(label="Take all of it back", command="purge", argument=f"{person} yes", is_danger=True)
    return CommandReply(text=purge_question(planned, context.how_to_type(f"purge @{person} yes")), choices=(choice,))


def _purge(context: CommandContext, person: str) -> CommandReply:
    scope = context.scope
    done = context.memory.purging.purge(
        scope.workspace, person, actor=scope.person, at=context.command.at, role=context.role
    )
    if done.is_empty:
        return CommandReply(text=nothing_to_purge(person))
    return CommandReply(text=purged_message(done), changed_runs=done.runs)
