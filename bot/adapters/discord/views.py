"""Buttons and forms: the buttons under an answer, choices, and the forms for corrections and lessons.

Their ids contain the answer that they are about, so they work after any restart. Submitted forms are read from
Discord's payload (`entered_values`), not from the library's form objects, which a restart would lose.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import discord
from discord import ui

from bot.adapters import forms
from bot.adapters.command_words import ParsedCommand
from bot.model import Choice
from memory.model import Audience
from memory.model.saved_messages import FilledFrom

UserInteraction = discord.Interaction[Any]
"""One use of a button, form, command or menu."""

UP, DOWN, FIX, UNDO, TELL, STOP = "up", "down", "fix", "undo", "tell", "stop"
_LOOKS = {
    UP: ("👍", "", "Right"),
    DOWN: ("👎", "", "Wrong"),
    FIX: ("✏️", "", "Correct it"),
    UNDO: ("", "Undo", ""),
    TELL: ("✏️", "Tell me", ""),
    STOP: ("🛑", "Stop", ""),
}

CORRECTION, TEACHING, ANSWER = "correction", "teaching", "answer"
_AUDIENCES = (
    (Audience.PERSONAL, "Just me"),
    (Audience.CHANNEL, "This channel"),
    (Audience.WORKSPACE, "The whole server"),
)
_LONGEST_TEXT = 4000
_LONGEST_HINT = 100
_FORM = re.compile(rf"goodbot:(?P<form>{CORRECTION}|{TEACHING}|{ANSWER})(?::(?P<answer>[\da-f#-]+))?")


_ASKS = re.compile(rf"goodbot:{TELL}:(?P<answer>[\d-]+)")


class FixedButton(
    ui.DynamicItem[ui.Button[Any]],
    template=rf"goodbot:(?P<act>{UP}|{DOWN}|{FIX}|{UNDO}|{TELL}|{STOP})(?::(?P<answer>[\d-]+))?",
):
    """A button of ours with a fixed meaning."""

    def __init__(self, act: str, answer: str = "") -> None:
        emoji, label, _ = _LOOKS[act]
        custom_id = f"goodbot:{act}:{answer}" if answer else f"goodbot:{act}"
        super().__init__(ui.Button(custom_id=custom_id, emoji=emoji or None, label=label or None))
        self.act = act
        self.answer = answer

    @classmethod
    async def from_custom_id(
        cls, interaction: UserInteraction, item: ui.Item[Any], match: re.Match[str], /
    ) -> "FixedButton":
        """The button a person pressed, also one that an earlier process sent."""
        return cls(match["act"], match["answer"] or "")

    async def callback(self, interaction: UserInteraction) -> None:
        """Pass the press on to the client."""
        interaction.client.on_event("press", (interaction, self.act, self.answer))


def asked_about(message: discord.Message) -> str:
    """The answer that a question of the bot is about, by its button "Tell me"; empty for other messages."""
    buttons = (button for line in message.components for button in getattr(line, "children", ()))
    found = (_ASKS.fullmatch(getattr(button, "custom_id", None) or "") for button in buttons)
    return next((match["answer"] for match in found if match), "")


def is_stop_line(message: discord.Message) -> bool:
    """Whether a message is a progress line with a stop button."""
    buttons = (button for line in message.components for button in getattr(line, "children", ()))
    return any(getattr(button, "custom_id", None) == f"goodbot:{STOP}" for button in buttons)


def row(*acts: str, answer: str = "") -> ui.View:
    """Buttons in a row."""
    view = ui.View(timeout=None)
    for act in acts:
        view.add_item(FixedButton(act, answer))
    return view


# Commands as buttons under a private message ------------------------------------------------------------------------

MOST = 25
_IN_ROW = 5
_LONGEST_LABEL = 80
"""At most five rows of five buttons, and 80 characters on a button (discord.com/developers, "Component Reference")."""


class ChosenButton(
    ui.DynamicItem[ui.Button[Any]],
    template=r"g:(?P<place>[0-9a-f]{1,16}):(?P<command>\w+)(?: (?P<argument>.+))?",
):
    """A command as a button."""

    def __init__(self, button: ui.Button[Any], place: int, typed: ParsedCommand) -> None:
        super().__init__(button)
        self.place = place
        self.typed = typed

    @classmethod
    async def from_custom_id(
        cls, interaction: UserInteraction, item: ui.Item[Any], match: re.Match[str], /
    ) -> "ChosenButton":
        """The button a person pressed, also one that an earlier process sent."""
        button: ui.Button[Any] = ui.Button(custom_id=match.string, label=getattr(item, "label", None))
        return cls(button, int(match["place"], 16), ParsedCommand(match["command"], match["argument"] or ""))

    async def callback(self, interaction: UserInteraction) -> None:
        """Pass the press on to the client."""
        interaction.client.on_event("choice", (interaction, self.place, self.typed, self.item.label or ""))


def choice_view(choices: Sequence[Choice], place: int = 0) -> ui.View | None:
    """The choices as buttons, as many as fit under a message; None if there are none.

    `place` is the channel or thread that the commands are about, if it is not the one of the message.
    """
    view = ui.View(timeout=None)
    fitting = {f"g:{place:x}:{choice.command} {choice.argument}".rstrip(): choice for choice in choices}
    for number, (custom_id, choice) in enumerate(list(fitting.items())[:MOST]):
        style = discord.ButtonStyle.danger if choice.is_danger else discord.ButtonStyle.secondary
        button: ui.Button[Any] = ui.Button(
            custom_id=custom_id, label=choice.label[:_LONGEST_LABEL] or "…", style=style, row=number // _IN_ROW
        )
        view.add_item(ChosenButton(button, place, ParsedCommand(choice.command, choice.argument)))
    return view if view.children else None


# Forms ------------------------------------------------------------------------------------------------------------


def correction_form(answer: str) -> ui.Modal:
    """The form for a correction; all its fields are optional."""
    reasons = [discord.RadioGroupOption(label=reason.capitalize(), value=reason) for reason in forms.REASONS]
    return _form(
        "What would have been right?",
        f"goodbot:{CORRECTION}:{answer}",
        ui.Label(
            text="What was wrong?", component=ui.RadioGroup(custom_id=forms.REASON, options=reasons, required=False)
        ),
        _text("What would have been right?", forms.BETTER, required=False),
        ui.Label(text="Try again now", component=ui.Checkbox(custom_id=forms.AGAIN)),
    )


def teaching_form(question: FilledFrom, answer: FilledFrom) -> ui.Modal:
    """The form for a lesson, filled in from messages: question, answer, audience."""
    audiences = [
        discord.RadioGroupOption(label=label, value=audience.value, default=audience is Audience.PERSONAL)
        for audience, label in _AUDIENCES
    ]
    return _form(
        "Teach the bot",
        f"goodbot:{TEACHING}:{packed(question, answer)}",
        _text("When somebody asks", forms.QUESTION, default=question.text),
        _text("the right answer is", forms.ANSWER, default=answer.text),
        ui.Label(
            text="Whom is it for?",
            description="Others get it when a teacher approves it.",
            component=ui.RadioGroup(custom_id=forms.AUDIENCE, options=audiences),
        ),
    )


def answer_form(place: int, question: str, label: str, answer: str = "") -> ui.Modal:
    """The form for the answer to an unanswered question, or of a waiting lesson, by its id.

    `place` as in `choice_view`.
    """
    field = _text("What would have been right?", forms.ANSWER, default=answer, hint=label)
    return _form("Teach the bot", f"goodbot:{ANSWER}:{place:x}-{question}", field)


def packed(question: FilledFrom, answer: FilledFrom) -> str:
    """The messages that a form is filled in with, as part of its id: each one's number and its author's."""
    numbers = (question.message_id, question.person, answer.message_id, answer.person)
    return "-".join(f"{int(each or 0):x}" for each in numbers)


def message_ids_of_form(text: str) -> tuple[FilledFrom, FilledFrom]:
    """The messages that a form was filled in with, read from its id (`packed`); without their texts."""
    asked, asker, reply, author = (str(int(each, 16) or "") for each in (text or "0-0-0-0").split("-"))
    return FilledFrom(message_id=asked, person=asker), FilledFrom(message_id=reply, person=author, is_answer=True)


def form_of(interaction: UserInteraction) -> tuple[str, str] | None:
    """The submitted form and the answer it is about; None for other interactions."""
    if interaction.type is not discord.InteractionType.modal_submit:
        return None
    found = _FORM.fullmatch(str(_data(interaction).get("custom_id", "")))
    return (found["form"], found["answer"] or "") if found else None


def entered_values(interaction: UserInteraction) -> dict[str, str]:
    """The entered values by field; empty fields are left out, a checked box is `yes`."""
    values = {str(one["custom_id"]): one.get("value") for one in _fields(_data(interaction).get("components") or ())}
    return {name: "yes" if value is True else str(value).strip() for name, value in values.items() if value}


def _fields(components: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """All fields, in labels and in rows."""
    for one in components:
        inner = [one["component"]] if "component" in one else one.get("components")
        if inner:
            yield from _fields(inner)
        elif "custom_id" in one:
            yield one


def _data(interaction: UserInteraction) -> Mapping[str, Any]:
    return interaction.data or {}


def _form(title: str, custom_id: str, *fields: ui.Label[Any]) -> ui.Modal:
    form = ui.Modal(title=title, custom_id=custom_id, timeout=None)
    for field in fields:
        form.add_item(field)
    # So that the library keeps no object for a form that may never come back.
    form.stop()
    return form


def _text(label: str, custom_id: str, *, default: str = "", hint: str = "", required: bool = True) -> ui.Label[Any]:
    field: ui.TextInput[Any] = ui.TextInput(
        custom_id=custom_id,
        style=discord.TextStyle.long,
        default=default[:_LONGEST_TEXT] or None,
        required=required,
        max_length=_LONGEST_TEXT,
    )
    return ui.Label(text=label, component=field, description=hint[:_LONGEST_HINT] or None)
