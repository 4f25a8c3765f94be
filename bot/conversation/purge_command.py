"""`purge`: a teacher takes back everything one person taught, after a preview."""

import re

from bot.conversation import purge_messages
from bot.conversation.command_context import CommandContext
from bot.conversation.reply import CommandReply
from bot.model import Choice
from memory.errors import InvalidInput

_MENTION = re.compile(r"<@[!]?(?P<id>[^>|\s]+)(?:\|[^>]*)?>")
_YES = re.compile(r"(?<!\s)\s++yes\Z", re.IGNORECASE)


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
    """`purge PERSON [yes]`: without `yes` it only counts."""
    person, is_confirmed = read_argument(context.argument)
    if not person:
        return CommandReply(text=purge_messages.purge_usage(context.spell("purge")))
    try:
        return _purge(context, person) if is_confirmed else _ask(context, person)
    except InvalidInput as error:
        return CommandReply(text=str(error))


def _ask(context: CommandContext, person: str) -> CommandReply:
    planned = context.memory.purging.plan(context.scope.workspace, person, role=context.role)
    if planned.is_empty:
        return CommandReply(text=purge_messages.nothing_to_purge(person))
    choice = Choice(label="Take all of it back", command="purge", argument=f"{person} yes", is_danger=True)
    return CommandReply(
        text=purge_messages.purge_question(planned, context.spell(f"purge {person} yes")), choices=(choice,)
    )


def _purge(context: CommandContext, person: str) -> CommandReply:
    scope = context.scope
    done = context.memory.purging.purge(
        scope.workspace, person, actor=scope.person, at=context.command.at, role=context.role
    )
    if done.is_empty:
        return CommandReply(text=purge_messages.nothing_to_purge(person))
    return CommandReply(text=purge_messages.purged(done), changed_runs=done.runs)
