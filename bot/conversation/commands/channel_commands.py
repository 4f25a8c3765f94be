"""The commands `mode` and `known-answers`: how the bot behaves in a channel. Everybody may look, teachers change it."""

from bot.conversation import messages
from bot.conversation.commands.command_context import CommandContext
from bot.conversation.commands.settings_command import SettingsFile
from bot.conversation.reply import CommandReply
from bot.model import Choice
from memory.model import ListeningMode, Visibility
from memory.rules.chat_settings import KNOWN_ANSWERS, MODE, OFF, ON
from memory.rules.retrieval.prompt import shown_line

_DEFAULT = "default"
_NO_MODE_HERE = "In our direct messages everything is for me. `mode` is for channels."
_MODES = {
    ListeningMode.MENTION: "Only when mentioned",
    ListeningMode.THREADS: "Also clear follow-ups",
    ListeningMode.ALWAYS: "Every message",
}
_LISTENS = {
    ListeningMode.MENTION: "I answer only what mentions me",
    ListeningMode.THREADS: "I answer what mentions me, and follow-ups to my answers that are clearly for me",
    ListeningMode.ALWAYS: "I answer everything that is not for somebody else",
}
_KNOWN_ANSWERS = {
    ON: "What people taught and are sure of, I answer here without asking the language model, and say so",
    OFF: "Here I ask the language model every time",
}
_WITHOUT_MODEL = (
    "I have no language model: what people taught and are sure of, I always answer here. With a language model, "
    "known-answers would be"
)


def mode(context: CommandContext, default: ListeningMode) -> CommandReply:
    """`mode` shows it, `mode mention|threads|always` sets it, `mode default` goes back to the setting."""
    scope, wanted = context.scope, context.argument.lower()
    if scope.visibility is Visibility.DIRECT:
        return CommandReply(text=_NO_MODE_HERE)
    if not wanted:
        return CommandReply(text=_shown(context, default), choices=_choices(context))
    if not context.role.may_promote:
        return CommandReply(text=messages.TEACHERS_ONLY)
    if wanted != _DEFAULT and wanted not in list(ListeningMode):
        return CommandReply(text=_which_mode(context.how_to_type("mode")))
    context.memory.chat_settings.change(scope, context.role, MODE, None if wanted == _DEFAULT else wanted)
    return CommandReply(text=_shown(context, default))


def _shown(context: CommandContext, default: ListeningMode) -> str:
    chosen = context.memory.chat_settings.here(context.scope).get(MODE)
    return _listening(ListeningMode(chosen.value) if chosen else default, context.scope.place)


def _choices(context: CommandContext) -> tuple[Choice, ...]:
    if not context.role.may_promote:
        return ()
    return tuple(Choice(label=_MODES[mode], command="mode", argument=mode.value) for mode in ListeningMode)


def _listening(mode: ListeningMode, place: str) -> str:
    """The text that tells how the bot listens in a channel."""
    where = {"": "Here"}.get(place, f"In {place}")
    return f"{where}: {_LISTENS[mode]} (`{mode.value}`). 🤐 on a message of mine keeps me quiet in that thread."


def _which_mode(command: str) -> str:
    """The reply to an unknown mode."""
    return f"I do not know that mode. `{command}` takes {', '.join(ListeningMode)} or default."


def known_answers(context: CommandContext, file: SettingsFile) -> CommandReply:
    """`known-answers` shows the setting of this channel, `known-answers on|off` sets it."""
    wanted, settings, scope = context.argument.casefold(), context.memory.chat_settings, context.scope
    if wanted in (ON, OFF):
        settings.change(scope, context.role, KNOWN_ANSWERS, wanted)
    chosen = settings.here(scope).get(KNOWN_ANSWERS)
    value, person = (chosen.value, chosen.changed_by) if chosen else (file.values.get(KNOWN_ANSWERS, OFF), "")
    by = f" ({shown_line(person, 30)} decided that)" if person else ""
    change = f"`{context.how_to_type(f'{KNOWN_ANSWERS} {OFF if value == ON else ON}')}` changes it."
    text = f"{_WITHOUT_MODEL} {value}" if file.is_offline else _KNOWN_ANSWERS[value]
    return CommandReply(text=f"{text}{by}. {change}", people=(person,) if person else ())
