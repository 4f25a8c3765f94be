"""Runs the bot's commands."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from bot.conversation import messages
from bot.conversation.commands import (
    channel_commands,
    gaps_commands,
    lesson_list,
    parts_command,
    purge_command,
    reminders_command,
    restate_command,
    review_commands,
    settings_command,
    votes_command,
)
from bot.conversation.commands.command_context import CommandContext, Handler
from bot.conversation.commands.forget_messages import forget_question, forgets_only_you, forgotten_message, still_named
from bot.conversation.commands.help_messages import help_text, privacy_text
from bot.conversation.commands.lesson_access import may_repeat
from bot.conversation.commands.settings_command import SETTINGS, SettingsFile
from bot.conversation.executor import Executor
from bot.conversation.explanations.explanation import deciders, explain
from bot.conversation.explanations.lesson_explanation import explain_lesson
from bot.conversation.feedback import feedback_messages
from bot.conversation.feedback.answer_parts import PART, part_choices
from bot.conversation.feedback.preference_in_words import preference_dropped
from bot.conversation.messages import HowToType
from bot.conversation.reply import CHOOSE, NO, NUMBERS, CommandReply, item_reference
from bot.errors import CommandRefused
from bot.model import Attachment, Choice, PersonCommand
from memory.errors import NotFound
from memory.library.export import export_memories, export_person
from memory.model import TAP, Episode, ListeningMode, Origin, Role, Scope
from memory.model.delivery import CORRECTING
from memory.model.episode import authors_of
from memory.rules.chat_settings import KNOWN_ANSWERS, effective_role
from memory.rules.retrieval.prompt import shown_line
from memory.rules.verdict import REVIEW
from memory.services import Memory, PersonalData
from memory.services.teaching.saving import SAVED

_NOTHING_TO_UNDO = "There is nothing of yours to take back."
_BEGUN_ANEW = "A new conversation: I leave out what was said here before. What people taught me stays."
_NO_DATA = "I keep nothing about you here."
_KEPT_APART = {"discord": "Each server is kept apart, and so are our direct messages: say it in each of them."}

TEACHERS_COMMANDS = frozenset({"review", "promote", "release", "purge", "gaps", "teach", "known-answers"})

_OF_ONE_CHANNEL = frozenset({"review", "promote", "release", "known-answers"})
"""Teachers' commands that a channel's creator may use for that channel."""


class Commands:
    """Runs one command, after checking what the person may see and do."""

    def __init__(
        self,
        memory: Memory,
        executor: Executor,
        stop: Callable[[PersonCommand], Awaitable[str]],
        *,
        actions: Sequence[str] = (),
        default_mode: ListeningMode = ListeningMode.THREADS,
        settings_file: SettingsFile | None = None,
    ) -> None:
        self._memory = memory
        self._executor = executor
        self._stop = stop
        self._actions = actions
        file = settings_file or SettingsFile()
        self._handlers: dict[str, Handler] = {
            **_HANDLERS,
            "mode": partial(channel_commands.mode, default=default_mode),
            SETTINGS: partial(settings_command.settings, file=file),
            KNOWN_ANSWERS: partial(channel_commands.known_answers, file=file),
        }

    async def form_for(self, reader: Scope, role: Role, named: str) -> tuple[str, str] | None:
        """What the form of `teach ID` begins with; None if nothing waits that this person may decide about."""
        return await self._executor(self._form_for, reader, role, named)

    def _form_for(self, reader: Scope, role: Role, named: str) -> tuple[str, str] | None:
        role = effective_role(role, reader.person, self._memory.chat_settings.values(reader.workspace))
        return gaps_commands.form_for(self._memory, reader, role, named) if role.may_promote else None

    async def run(self, command: PersonCommand, how_to_type: messages.HowToType) -> CommandReply:
        """Run a command. The reply to an unknown one is a hint."""
        if command.name == "stop":
            return CommandReply(text=await self._stop(command))
        handler = self._handlers.get(command.name)
        if handler is None:
            return CommandReply(text=_unknown_command(how_to_type))
        if command.name in TEACHERS_COMMANDS and not command.role.may_promote:
            return CommandReply(text=messages.TEACHERS_ONLY)
        if command.is_role_local and command.name in TEACHERS_COMMANDS - _OF_ONE_CHANNEL:
            return CommandReply(text=messages.ONLY_IN_YOUR_CHANNEL)
        try:
            context = CommandContext(
                memory=self._memory, command=command, how_to_type=how_to_type, actions=self._actions
            )
            return await self._executor(handler, context)
        except CommandRefused as refusal:
            return CommandReply(text=str(refusal))


def _why(context: CommandContext) -> CommandReply:
    command = context.command
    has_numbers = context.argument.lower() == NUMBERS
    if context.argument and not (has_numbers or command.message_id):  # `why ID`
        return _why_lesson(context)
    run_id = context.memory.answers.addressed(context.scope, command.message_id, command.at)
    if run_id is None:
        return CommandReply(text=messages.NO_SUCH_ANSWER if command.message_id else messages.NO_ANSWER_YET)
    try:
        explanation = context.memory.explaining.answer(context.scope.workspace, run_id)
    except NotFound:
        return CommandReply(text=messages.NO_SUCH_ANSWER)
    view = explanation.view
    if not may_repeat(context.scope, view.root):
        return CommandReply(text=messages.NOT_YOURS)
    (root,) = context.lessons.as_seen_by(context.scope, [view.root])
    seen = replace(explanation, view=replace(view, nodes=(root, *view.nodes[1:])))
    text = explain(seen, context.scope, has_numbers=has_numbers)
    if not has_numbers and run_id == context.memory.answers.newest(context.scope):
        text += f"\n\n`{context.how_to_type(f'why {NUMBERS}')}` adds the numbers."
    behind = (each.vote for recall in explanation.recalls for shown in recall.shown for each in shown.votes)
    voters = (vote.actor for vote in (*view.votes, *behind))
    people = dict.fromkeys([*authors_of(list(view.lessons.values())), *voters, *deciders(view)])
    choices = part_choices(view.nodes)
    return CommandReply(text=text, choices=choices, people=tuple(people))


def _parts(context: CommandContext) -> CommandReply:
    command = context.command
    return parts_command.show(context, context.memory.answers.addressed(context.scope, command.message_id, command.at))


def _why_lesson(context: CommandContext) -> CommandReply:
    lesson = context.find(item_reference(context.argument))
    explanation = context.memory.explaining.lesson(lesson.workspace, lesson.id)
    voters, deciders = (each.vote.actor for each in explanation.votes), (each.actor for each in explanation.decisions)
    people = dict.fromkeys([lesson.author, *voters, *deciders])
    return CommandReply(text=explain_lesson(explanation, context.scope), people=tuple(people))


def _undo(context: CommandContext) -> CommandReply:
    scope, command, argument = context.scope, context.command, context.argument.lower()
    of_event, again = "", Choice(label="Take back one more", command="undo")
    if argument:  # `undo ID`: of the reply to feedback in words, or of a rating
        try:
            message = context.memory.in_words.message(scope.workspace, argument)
        except NotFound:
            return votes_command.take_back(context)
        of_event = message.event_id
        preference = context.memory.preferences.remove(scope.workspace, scope.person, event_id=of_event)
        if preference is not None:
            return CommandReply(text=preference_dropped(preference))
        if not message.message_id.startswith(CORRECTING):  # else it was a correction by all means
            again = Choice(label=feedback_messages.ANSWER_IT, command=CHOOSE, argument=f"{argument} {NO}")
    undo = context.memory.teaching.undo
    undone = undo(scope.workspace, scope.person, at=command.at, event_id=command.event_id, of_event=of_event)
    if undone is None:
        return CommandReply(text=_NOTHING_TO_UNDO)
    shown = undone.episode if may_repeat(scope, undone.episode) else None
    return CommandReply(text=_undone(undone.what, shown), choices=(again,), changed_runs=undone.runs)


def _new(context: CommandContext) -> CommandReply:
    context.memory.exchanges.begin_anew(context.scope, context.command.at)
    return CommandReply(text=_BEGUN_ANEW)


def _export(context: CommandContext) -> CommandReply:
    scope = context.scope
    data = context.memory.privacy.copy(scope.workspace, scope.person)
    note = _scope_note(scope)
    if data.is_empty:
        return CommandReply(text=_NO_DATA + note)
    return CommandReply(text=f"Your data:{note}", attachment=_document(data, scope.person, context.argument))


def _forget(context: CommandContext) -> CommandReply:
    scope, privacy = context.scope, context.memory.privacy
    if (argument := context.argument.casefold()) not in ("", "me", "yes", "me yes"):
        raise CommandRefused(forgets_only_you(argument, context.how_to_type("forget me")))
    data = privacy.personal_data(scope.workspace, scope.person)
    lists = context.memory.chat_settings.lists_naming(scope.workspace, scope.person)
    named = still_named(lists, context.how_to_type(f"settings {lists[0]} remove ...")) if lists else ""
    note = f"{named}{_scope_note(scope)}"
    if data.is_empty:
        return CommandReply(text=_NO_DATA + note)
    if argument not in ("yes", "me yes"):
        erase = Choice(label="Erase all of it", command="forget", argument="yes", is_danger=True)
        question = forget_question(data, context.how_to_type("forget yes"))
        return CommandReply(text=question + note, choices=(erase,))
    return CommandReply(text=forgotten_message(privacy.forget(scope.workspace, scope.person)) + note)


_HANDLERS: dict[str, Handler] = {
    "help": lambda context: CommandReply(text=help_text(context.how_to_type, context.role)),
    "privacy": lambda context: CommandReply(text=privacy_text(context.how_to_type)),
    "why": _why,
    "parts": _parts,
    PART: parts_command.judge,
    "new": _new,
    "memory": lesson_list.show,
    "archive": lesson_list.archive,
    "restore": lesson_list.restore,
    "undo": _undo,
    "ratings": votes_command.show,
    "unrate": votes_command.take_back,
    "export": _export,
    "forget": _forget,
    "reminders": reminders_command.show,
    "restate": restate_command.restate,
    "review": review_commands.show,
    "promote": review_commands.promote,
    "release": review_commands.release,
    "purge": purge_command.purge,
    "gaps": gaps_commands.show,
    "teach": gaps_commands.teach,
}


def _document(data: PersonalData, person: str, wanted: str) -> Attachment:
    """A person's data as a file: everything as json, or their episodes as csv or as lesson text."""
    if wanted == "csv":
        return _attachment("csv", export_memories(data.episodes, "csv"), "text/csv")
    if wanted == "prompt":
        return _attachment("txt", export_memories(data.episodes, "prompt"), "text/plain")
    text = json.dumps(export_person(data, person), ensure_ascii=False, indent=2)
    return _attachment("json", text, "application/json")


def _attachment(ending: str, text: str, media_type: str) -> Attachment:
    return Attachment(name=f"goodbot-export.{ending}", content=text.encode(), media_type=media_type)


def _unknown_command(how_to_type: HowToType) -> str:
    """The reply to an unknown command."""
    return f"I do not know that command. `{how_to_type('help')}` lists those I know."


_NAMED_EMOJI = re.compile(r"(?P<name>[\w+'-]+(?:::skin-tone-[2-6])?)(?::\d+)?", re.ASCII)
"""An emoji by its name, as Slack has all and Discord a server's own, with its id."""


def _undone(what: str, episode: Episode | None) -> str:
    """The confirmation of an undo (`Undone.what`), without words that may not be shown here."""
    goal = f"“{shown_line(episode.goal, 60)}”" if episode is not None else ""
    if what == TAP:
        return f"Taken back: your choice for {goal or messages.IN_ANOTHER_CHANNEL}."
    if what == SAVED:
        return f"Forgotten: the answer to {goal or messages.IN_ANOTHER_CHANNEL} that you saved."
    if what == "correction":
        taught = "lesson" if episode is not None and episode.origin is Origin.TAUGHT else "correction"
        return f"Forgotten: your {taught} for {goal or messages.IN_ANOTHER_CHANNEL}."
    if what == REVIEW:
        counts = f": {messages.lesson_state(episode)}" if episode is not None else ""
        return f"Taken back: your approval of {goal or messages.IN_ANOTHER_CHANNEL}{counts}."
    emoji = what.partition(":")[2]
    named = _NAMED_EMOJI.fullmatch(emoji)
    reaction = f":{named['name']}:" if named else emoji or "vote"
    return f"Taken back: your {reaction} on {f'the answer to {goal}' if goal else messages.IN_ANOTHER_CHANNEL}."


def _scope_note(scope: Scope) -> str:
    """A note that only this workspace's data is meant, on platforms where a person has one id in several."""
    apart = _KEPT_APART.get(scope.platform, "")
    return f"\n{apart}" if apart else ""
