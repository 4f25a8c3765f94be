"""The view of App Home: one page for one person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.adapters.slack.blocks import Block, sections
from bot.adapters.slack.choices import HOME_CHOICE, choice_blocks
from bot.model import BotMessage

HOME_COMMAND = "goodbot_home_command_"
"""Begins the action ids of the page's own buttons; the command follows, its argument is the button's value."""

TITLES = {"memory": "My lessons", "ratings": "My ratings", "review": "Waiting for a teacher"}
"""The parts of the page that are a command's answer, with what stands above them, from top to bottom."""

_PROMISE = "My answers come from a machine and may be wrong. React 👍 or 👎 to teach me."
_MOST_SECTIONS = 10
"""Of each part: a page takes 100 blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A person's page. Each part is the answer to a command."""

    bot_name: str
    news: Sequence[BotMessage] = ()
    """What the last press brought."""
    parts: Mapping[str, Sequence[BotMessage]]
    """By command, of those in `TITLES`."""
    privacy: Sequence[BotMessage]

    def view(self) -> Block:
        """As Slack takes it (`views.publish`)."""
        blocks: list[Block] = [
            {"type": "header", "text": _words(f"{self.bot_name} learns from you")},
            *sections(_PROMISE),
            {"type": "actions", "elements": _buttons()},
        ]
        blocks += _shown(self.news, "news")
        for command, title in TITLES.items():
            if messages := self.parts.get(command):
                blocks += [{"type": "divider"}, {"type": "header", "text": _words(title)}, *_shown(messages, command)]
        return {"type": "home", "blocks": [*blocks, {"type": "divider"}, *_shown(self.privacy, "privacy")]}


def _shown(messages: Sequence[BotMessage], name: str) -> list[Block]:
    """Text, and the choices of the last message below it."""
    text = "\n\n".join(message.text for message in messages)
    choices = messages[-1].choices if messages else ()
    return [*sections(text, _MOST_SECTIONS), *choice_blocks(choices, f"{HOME_CHOICE}{name}_")]


def _buttons() -> list[Block]:
    commands = (("Undo the last", "undo"), ("Export my data", "export"), ("Help", "help"))
    plain = [_button(label, name) for label, name in commands]
    forget = _button("Forget me", "forget") | {
        "value": "yes",
        "style": "danger",
        "confirm": {
            "title": _words("Forget me?"),
            "text": _words("This erases what I keep about you and the lessons you taught me. It cannot be undone."),
            "confirm": _words("Erase it"),
            "deny": _words("Keep it"),
            "style": "danger",
        },
    }
    return [*plain, forget]


def _button(label: str, command: str) -> Block:
    return {"type": "button", "text": _words(label), "action_id": HOME_COMMAND + command}


def _words(text: str) -> Block:
    return {"type": "plain_text", "text": text}
