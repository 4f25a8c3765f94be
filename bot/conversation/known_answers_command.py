"""`known-answers`: whether what people taught is answered in a channel without asking the language model."""

from bot.conversation import messages
from bot.conversation.command_context import CommandContext
from bot.conversation.reply import CommandReply


def known_answers(context: CommandContext) -> CommandReply:
    """`known-answers` tells what holds in this channel; `known-answers on` and `off` decide it."""
    wanted = {"on": True, "off": False}.get(context.argument.casefold())
    channels, scope = context.memory.channels, context.scope
    if wanted is not None:
        channels.switch_known_answers(scope, context.role, is_on=wanted)
    switch = channels.known_answers(scope)
    is_on, person = (switch.is_on, switch.switched_by) if switch else (None, "")
    text = messages.known_answers(is_on, person, context.spell("known-answers"))
    return CommandReply(text=text, people=(person,) if person else ())
