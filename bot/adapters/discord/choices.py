"""Commands as buttons under a private message. The id of a button holds all it needs, so it works after a restart.

Discord's rules (discord.com/developers, "Component Reference"): five rows of five buttons, ids of at most 100
characters and none twice in a message, labels of at most 80.
"""

import re
import string
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

import discord
from discord import ui

from bot.adapters.command_words import Typed
from bot.model import Choice

Use = discord.Interaction[Any]

MOST = 25
_IN_ROW = 5
_LONGEST_LABEL = 80
_DIGITS = string.digits + string.ascii_letters
"""Of a place's id in the button: 11 of them write any of Discord's ids."""


class Choosers(Protocol):
    """The client's side of a button: it is called with each press."""

    @property
    def chosen(self) -> Callable[[Use, int, Typed], Coroutine[Any, Any, None]]:
        """Called with the interaction, the channel or thread it is about (0: where it was pressed), and the command."""
        ...


class Chosen(
    ui.DynamicItem[ui.Button[Any]],
    template=r"gb:(?P<place>[0-9A-Za-z]{0,11}):(?P<command>\w+)(?: (?P<argument>.+))?",
):
    """A button. The client it is pressed in is a `Choosers`."""

    def __init__(self, button: ui.Button[Any], place: int, typed: Typed) -> None:
        super().__init__(button)
        self.place = place
        self.typed = typed

    @classmethod
    async def from_custom_id(cls, interaction: Use, item: ui.Item[Any], match: re.Match[str], /) -> "Chosen":
        """The button a person pressed, also one that an earlier process sent."""
        button: ui.Button[Any] = ui.Button(custom_id=match.string)
        return cls(button, _number(match["place"]), Typed(match["command"], match["argument"] or ""))

    async def callback(self, interaction: Use) -> None:
        """Pass the press on to the client."""
        choosers: Choosers = interaction.client
        await choosers.chosen(interaction, self.place, self.typed)


def choice_view(choices: Sequence[Choice], place: int = 0) -> ui.View | None:
    """The buttons in the order given, as many as a message takes; None for none.

    `place` is the channel or thread the commands are about, where that is not the one the message stands in.
    """
    view = ui.View(timeout=None)
    fitting = {_custom_id(choice, place): choice for choice in choices}
    for number, (custom_id, choice) in enumerate(list(fitting.items())[:MOST]):
        style = discord.ButtonStyle.danger if choice.is_danger else discord.ButtonStyle.secondary
        button: ui.Button[Any] = ui.Button(
            custom_id=custom_id, label=choice.label[:_LONGEST_LABEL] or "…", style=style, row=number // _IN_ROW
        )
        view.add_item(Chosen(button, place, Typed(choice.command, choice.argument)))
    return view if view.children else None


def _custom_id(choice: Choice, place: int) -> str:
    return f"gb:{_written(place) if place else ''}:{choice.command} {choice.argument}".rstrip()


def _written(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits


def _number(written: str) -> int:
    number = 0
    for digit in written:
        number = number * len(_DIGITS) + _DIGITS.index(digit)
    return number
