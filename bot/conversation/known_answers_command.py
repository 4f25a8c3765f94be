"""`known-answers`: whether what people taught is answered in a channel without asking the language model."""

from bot.conversation import messages
from bot.conversation.command_context import CommandContext
from bot.conversation.reply import CommandReply
from memory.rules.chat_settings import KNOWN_ANSWERS, OFF, ON


def known_answers(context: CommandContext) -> CommandReply:
    """`known-answers` tells what holds in this channel; `known-answers on` and `off` decide it."""
    wanted, settings, scope = context.argument.casefold(), context.memory.chat_settings, context.scope
    if wanted in (ON, OFF):
        settings.change(scope, context.role, KNOWN_ANSWERS, wanted)
    chosen = settings.here(scope).get(KNOWN_ANSWERS)
    is_on, person = (chosen.value == ON, chosen.changed_by) if chosen else (None, "")
    text = messages.known_answers(is_on, person, context.spell(KNOWN_ANSWERS))
    return CommandReply(text=text, people=(person,) if person else ())
