"""The slash command with its subcommands, and the two entries in the menu of messages."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands

from bot.adapters.command_words import CORRECT, RESTATE, SETTINGS, TEACH as TEACH_ANSWER
from bot.adapters.discord.views import UserInteraction
from memory.rules.chat_settings import CATALOGUE

if TYPE_CHECKING:
    from bot.adapters.discord.incoming.interactions import Interactions

TEACH, WHY = "Teach the bot…", "Why this answer?"

_PLAIN = {
    "help": "What I can do",
    "why": "Which lessons and steps the last answer here came from",
    "new": "Begin a new conversation, without what was said here before",
    "undo": "Take back the last thing you taught me",
    "ratings": "Your latest ratings, and how to take one back",
    "privacy": "What I keep and who sees it",
    "gaps": "For teachers: questions nobody could answer, and teaching their answers",
    "stop": "Stop what I am working on here",
}
_PAGED = {
    "reminders": "What I remind you of, with buttons to cancel",
    "memory": "What I believe here, with buttons to archive",
    "review": "For teachers: what waits for approval here",
}
_BY_ID = {
    "archive": ("Take a lesson out of use", "lesson"),
    "restore": ("Put an archived lesson back into use", "lesson"),
    "unrate": ("Take one of your ratings back", "answer"),
    "release": ("For teachers: let a lesson be used that I hold back", "lesson"),
}
_MODES = ("mention", "threads", "always", "default")
_FORMATS = ("json", "csv", "prompt")
FORGET = "forget-me"


def add_commands(tree: app_commands.CommandTree[Any], name: str, orders: "Interactions") -> None:
    """Add all commands to the tree, for servers that invited the bot and its direct messages."""
    installs = app_commands.AppInstallationType(guild=True, user=False)
    contexts = app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False)
    group = app_commands.Group(
        name=name,
        description="Ask what I know, take back what you taught me, get or erase your data",
        allowed_installs=installs,
        allowed_contexts=contexts,
    )
    for word, description in _PLAIN.items():
        group.add_command(app_commands.Command(name=word, description=description, callback=_plain(word, orders)))
    for word, description in _PAGED.items():
        group.add_command(app_commands.Command(name=word, description=description, callback=_paged(word, orders)))
    for word, (description, option) in _BY_ID.items():
        group.add_command(_by_id(word, description, option, orders))
    _add_with_options(group, orders)
    _add_for_teachers(group, orders)
    tree.add_command(group)

    for title, chosen in ((TEACH, orders.teach), (WHY, orders.why)):
        tree.add_command(
            app_commands.ContextMenu(name=title, callback=chosen, allowed_installs=installs, allowed_contexts=contexts)
        )


def _plain(word: str, orders: "Interactions") -> Callable[[UserInteraction], Coroutine[Any, Any, None]]:
    async def command(interaction: UserInteraction) -> None:
        await orders.command(interaction, word)

    return command


def _paged(word: str, orders: "Interactions") -> Callable[..., Coroutine[Any, Any, None]]:
    async def command(interaction: UserInteraction, page: app_commands.Range[int, 1, 9999] = 1) -> None:
        await orders.command(interaction, word, f"page {page}" if page > 1 else "")

    return command


def _by_id(word: str, description: str, option: str, orders: "Interactions") -> app_commands.Command[Any, ..., None]:
    async def command(interaction: UserInteraction, one: app_commands.Range[str, 1, 64]) -> None:
        await orders.command(interaction, word, one)

    named = app_commands.rename(one=option)(app_commands.describe(one="Its id, as the list shows it")(command))
    return app_commands.Command(name=word, description=description, callback=named)


def _add_for_teachers(group: app_commands.Group, orders: "Interactions") -> None:
    @group.command(name="promote", description="For teachers: let a lesson reach more people")
    @app_commands.describe(lesson="Its id, as the list shows it", audience="Whom it shall reach")
    @app_commands.choices(
        audience=[app_commands.Choice(name=each, value=each) for each in ("channel", "workspace", "personal")]
    )
    async def promote(interaction: UserInteraction, lesson: app_commands.Range[str, 1, 64], audience: str = "") -> None:
        await orders.command(interaction, "promote", f"{lesson} {audience}".strip())

    @group.command(name=TEACH_ANSWER, description="For teachers: the answer to a question nobody could answer")
    @app_commands.describe(question="Its id, as gaps shows it", answer="What would have been right")
    async def teach(
        interaction: UserInteraction, question: app_commands.Range[str, 1, 64], answer: app_commands.Range[str, 1, 4000]
    ) -> None:
        await orders.command(interaction, TEACH_ANSWER, f"{question} {answer}")

    @group.command(name="known-answers", description="For teachers: give what people taught without the model, or not")
    @app_commands.describe(switch="In this channel; without, I tell what holds")
    @app_commands.choices(switch=[app_commands.Choice(name=each, value=each) for each in ("on", "off")])
    async def known_answers(interaction: UserInteraction, switch: str = "") -> None:
        await orders.command(interaction, "known-answers", switch)

    @group.command(name="mode", description="How I listen in this channel; teachers choose")
    @app_commands.describe(listen="Which messages are meant for me")
    @app_commands.choices(listen=[app_commands.Choice(name=each, value=each) for each in _MODES])
    async def mode(interaction: UserInteraction, listen: str = "") -> None:
        await orders.command(interaction, "mode", listen)

    @group.command(name=SETTINGS, description="For administrators: what may be changed in chat")
    @app_commands.describe(name="Which one; without, I show all", value="Its new value, or: add @somebody, default")
    @app_commands.choices(name=[app_commands.Choice(name=each, value=each) for each in (*CATALOGUE, "history", "undo")])
    async def settings(
        interaction: UserInteraction, name: str = "", value: app_commands.Range[str, 0, 2000] = ""
    ) -> None:
        await orders.command(interaction, SETTINGS, f"{name} {value}".strip())

    @group.command(name="purge", description="For teachers: take back everything that one person taught")
    @app_commands.describe(person="Who taught it", confirm="Choose yes to do it; without, I only count")
    @app_commands.choices(confirm=[app_commands.Choice(name="yes", value="yes")])
    async def purge(interaction: UserInteraction, person: discord.User, confirm: str = "") -> None:
        await orders.command(interaction, "purge", f"{person.id} {confirm}".strip())


def _add_with_options(group: app_commands.Group, orders: "Interactions") -> None:
    @group.command(name="export", description="Your data as a file")
    @app_commands.describe(form="Everything as json, or your episodes as csv or as lesson text")
    @app_commands.choices(form=[app_commands.Choice(name=each, value=each) for each in _FORMATS])
    async def export(interaction: UserInteraction, form: str = "") -> None:
        await orders.command(interaction, "export", form)

    @group.command(name=FORGET, description="Erase your data")
    @app_commands.describe(confirm="Choose yes to erase at once")
    @app_commands.choices(confirm=[app_commands.Choice(name="yes", value="yes")])
    async def forget(interaction: UserInteraction, confirm: str = "") -> None:
        await orders.command(interaction, "forget", confirm)

    @group.command(name=RESTATE, description="Your lessons that need a new question, and giving one its question")
    @app_commands.describe(lesson="Its id, as the list shows it", question="What your answer answers, in your words")
    async def restate(
        interaction: UserInteraction,
        lesson: app_commands.Range[str, 0, 64] = "",
        question: app_commands.Range[str, 0, 4000] = "",
    ) -> None:
        await orders.command(interaction, RESTATE, f"{lesson} {question}".strip())

    @group.command(name=CORRECT, description="Say what the last answer here should have been")
    @app_commands.describe(answer="What would have been right")
    async def correct(interaction: UserInteraction, answer: app_commands.Range[str, 1, 4000]) -> None:
        await orders.command(interaction, CORRECT, answer)


def spelled(command: str, group: str, bot_name: str) -> str:
    """How a person types a command here."""
    word, _, argument = command.partition(" ")
    if word == CORRECT:
        return f"@{bot_name} {CORRECT}:"
    if word == "forget":
        return f"/{group} {FORGET}" + (" confirm:yes" if argument.endswith("yes") else "")
    options = _OPTIONS.get(word)
    if options is None:
        return f"/{group} {command}"
    values = argument.removeprefix("page ").split(" ", len(options) - 1) if argument else []
    return " ".join([f"/{group} {word}", *(f"{name}:{value}" for name, value in zip(options, values, strict=False))])


_OPTIONS = {
    **dict.fromkeys(_PAGED, ("page",)),
    **{word: (option,) for word, (_, option) in _BY_ID.items()},
    "promote": ("lesson", "audience"),
    "purge": ("person", "confirm"),
    TEACH_ANSWER: ("question", "answer"),
    "known-answers": ("switch",),
    "export": ("form",),
    "mode": ("listen",),
    SETTINGS: ("name", "value"),
    RESTATE: ("lesson", "question"),
}
"""The option names of the words that follow a command."""


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
