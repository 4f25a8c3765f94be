"""The slash command with its subcommands, and the two entries in the menu of messages."""

import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import discord
from discord import app_commands

from bot.adapters.command_words import CORRECT, RESTATE, SETTINGS, TEACH as TEACH_ANSWER
from bot.adapters.discord.views import UserInteraction
from bot.conversation.reply import NUMBERS
from memory.rules.chat_settings import CATALOGUE

OnCommand = Callable[[UserInteraction, str, str], Coroutine[Any, Any, None]]
"""Handles a command, given its name and what follows it."""
OnMessage = Callable[[UserInteraction, discord.Message], Coroutine[Any, Any, None]]
"""Handles an entry in the menu of messages."""

TEACH, WHY = "Teach the bot…", "Why this answer?"
FORGET = "forget-me"
"""The name of the command `forget`."""


@dataclass(frozen=True, slots=True)
class _Option:
    """An option of a command. `kind` is its type as discord.py reads it from an annotation."""

    name: str
    description: str
    kind: Any = str
    choices: Sequence[str] = ()
    default: object = ""


_REQUIRED = inspect.Parameter.empty
_PAGE = _Option("page", "…", app_commands.Range[int, 1, 9999], default=1)


def _id(name: str, listed_by: str = "the list") -> _Option:
    """The option for the id of a lesson, an answer or a question."""
    return _Option(name, f"Its id, as {listed_by} shows it", app_commands.Range[str, 1, 64], default=_REQUIRED)


def _text(name: str, description: str) -> _Option:
    return _Option(name, description, app_commands.Range[str, 1, 4000], default=_REQUIRED)


_COMMANDS: Mapping[str, tuple[str, tuple[_Option, ...]]] = {
    "help": ("What I can do", ()),
    "why": (
        "Which lessons and steps the last answer here came from",
        (_Option("show", "The numbers of the search, too", choices=(NUMBERS,)),),
    ),
    "new": ("Begin a new conversation, without what was said here before", ()),
    "undo": ("Take back the last thing you taught me", ()),
    "ratings": ("Your latest ratings, and how to take one back", ()),
    "privacy": ("What I keep and who sees it", ()),
    "gaps": ("For teachers: questions nobody could answer, and teaching their answers", ()),
    "stop": ("Stop what I am working on here", ()),
    "reminders": ("What I remind you of, with buttons to cancel", (_PAGE,)),
    "memory": (
        "What I believe here, with buttons to archive",
        (_Option("show", "What is noted about things, or what is out of use", choices=("topics", "archived")), _PAGE),
    ),
    "review": ("For teachers: what waits for approval here", (_PAGE,)),
    "archive": ("Take a lesson out of use", (_id("lesson"),)),
    "restore": ("Put an archived lesson back into use", (_id("lesson"),)),
    "unrate": ("Take one of your ratings back", (_id("answer"),)),
    "release": ("For teachers: let a lesson be used that I hold back", (_id("lesson"),)),
    "export": (
        "Your data as a file",
        (
            _Option(
                "form",
                "Everything as json, or your episodes as csv or as lesson text",
                choices=("json", "csv", "prompt"),
            ),
        ),
    ),
    "forget": ("Erase your data", (_Option("confirm", "Choose yes to erase at once", choices=("yes",)),)),
    RESTATE: (
        "Your lessons that need a new question, and giving one its question",
        (
            _Option("lesson", "Its id, as the list shows it", app_commands.Range[str, 0, 64]),
            _Option("question", "What your answer answers, in your words", app_commands.Range[str, 0, 4000]),
        ),
    ),
    CORRECT: ("Say what the last answer here should have been", (_text("answer", "What would have been right"),)),
    "promote": (
        "For teachers: let a lesson reach more people",
        (_id("lesson"), _Option("audience", "Whom it shall reach", choices=("channel", "workspace", "personal"))),
    ),
    TEACH_ANSWER: (
        "For teachers: the answer to a question nobody could answer",
        (_id("question", "gaps"), _text("answer", "What would have been right")),
    ),
    "known-answers": (
        "For teachers: give what people taught without the model, or not",
        (_Option("switch", "In this channel; without, I tell what holds", choices=("on", "off")),),
    ),
    "mode": (
        "How I listen in this channel; teachers choose",
        (_Option("listen", "Which messages are meant for me", choices=("mention", "threads", "always", "default")),),
    ),
    SETTINGS: (
        "For administrators: what may be changed in chat",
        (
            _Option("name", "Which one; without, I show all", choices=(*CATALOGUE, "history", "undo")),
            _Option("value", "Its new value, or: add @somebody, default", app_commands.Range[str, 0, 2000]),
        ),
    ),
    "purge": (
        "For teachers: take back everything that one person taught",
        (
            _Option("person", "Who taught it", discord.User, default=_REQUIRED),
            _Option("confirm", "Choose yes to do it; without, I only count", choices=("yes",)),
        ),
    ),
}
"""The description of each command, and its options in the order of the words after the command."""


def add_commands(
    tree: app_commands.CommandTree[Any], name: str, on_command: OnCommand, on_messages: Mapping[str, OnMessage]
) -> None:
    """Add all commands to the tree, for servers that invited the bot and its direct messages.

    `on_messages` has the entries in the menu of messages by their titles.
    """
    installs = app_commands.AppInstallationType(guild=True, user=False)
    contexts = app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False)
    group = app_commands.Group(
        name=name,
        description="Ask what I know, take back what you taught me, get or erase your data",
        allowed_installs=installs,
        allowed_contexts=contexts,
    )
    for word in _COMMANDS:
        group.add_command(_command(word, on_command))
    tree.add_command(group)

    for title, chosen in on_messages.items():
        tree.add_command(
            app_commands.ContextMenu(name=title, callback=chosen, allowed_installs=installs, allowed_contexts=contexts)
        )


def _command(word: str, on_command: OnCommand) -> app_commands.Command[Any, ..., None]:
    """The command, whose callback has the options as parameters, because discord.py reads them from its signature."""
    description, options = _COMMANDS[word]

    async def callback(interaction: UserInteraction, **values: object) -> None:
        words = (_word(values[option.name]) for option in options if option.name in values)
        await on_command(interaction, word, " ".join(words).strip())

    parameters = [inspect.Parameter("interaction", inspect.Parameter.POSITIONAL_ONLY, annotation=UserInteraction)]
    parameters += [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.kind)
        for each in options
    ]
    callback.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions may have one
    app_commands.describe(**{option.name: option.description for option in options})(callback)
    choices = {option.name: option.choices for option in options if option.choices}
    app_commands.choices(
        **{name: [app_commands.Choice(name=each, value=each) for each in offered] for name, offered in choices.items()}
    )(callback)
    name = FORGET if word == "forget" else word
    return app_commands.Command(name=name, description=description, callback=callback)


def _word(value: object) -> str:
    """The chosen value of an option as a word of the command; the first page is left out."""
    if isinstance(value, int):
        return f"page {value}" if value > 1 else ""
    return str(value.id if isinstance(value, discord.abc.User) else value)


def how_to_type(command: str, group: str, bot_name: str) -> str:
    """How a person types a command here."""
    word, _, argument = command.partition(" ")
    if word == CORRECT:
        return f"@{bot_name} {CORRECT}:"
    if word == "forget":
        return f"/{group} {FORGET}" + (" confirm:yes" if argument.endswith("yes") else "")
    _, options = _COMMANDS.get(word, ("", None))
    if options is None or (options == (_PAGE,) and argument and not argument.startswith("page ")):
        return f"@{bot_name} {command}"
    if not options:
        return f"/{group} {command}"
    page = argument.rpartition("page ")[2] if _PAGE in options and "page " in argument else ""
    values = argument.removesuffix(f"page {page}").split(" ", len(options) - 1) if argument else []
    filled = [(each, value) for each, value in zip(options, values, strict=False) if each is not _PAGE]
    filled += [(_PAGE, page)]
    named = (f"{each.name}:{value}" for each, value in filled if value and (not each.choices or value in each.choices))
    return " ".join([f"/{group} {word}", *named])


def same_commands(wanted: Sequence[Mapping[str, Any]], present: Sequence[Mapping[str, Any]]) -> bool:
    """Whether Discord has these commands already, apart from the ids, versions and defaults that it adds."""
    return _essence(list(wanted)) == _essence(list(present))


_COMPARED = ("name", "type", "description", "required", "value", "min_length", "max_length")
_WITHIN = ("options", "choices")


def _essence(commands: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The visible fields of the commands, sorted, for a comparison."""
    reduced = [
        [
            *(str(one.get(key) or "") for key in _COMPARED),
            *(sorted(one.get(key) or ()) for key in ("contexts", "integration_types")),
            *(_essence(one.get(key) or ()) for key in _WITHIN),
        ]
        for one in commands
    ]
    return sorted(reduced, key=repr)
