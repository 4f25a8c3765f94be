"""Commands as buttons under a private message. A button holds all it needs, so it works after a restart.

Slack's rules (docs.slack.dev/reference/block-kit): 25 elements in a block of actions, 50 blocks in a message, 75
characters on a button, 2,000 in its value, and no action id twice in a block.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bot.adapters.command_words import Typed
from bot.model import Choice

Block = dict[str, Any]

CHOICE = "goodbot_choice_"
"""Begins the action ids of choices in messages; a number follows."""
HOME_CHOICE = "goodbot_home_choice_"
"""The same on App Home."""

_IN_BLOCK = 25
_MOST_BLOCKS = 4
_LONGEST_LABEL = 75


def choice_blocks(choices: Sequence[Choice], begin: str = CHOICE) -> list[Block]:
    """The buttons, in the order given. `begin` is what their action ids begin with."""
    shown = choices[: _IN_BLOCK * _MOST_BLOCKS]
    buttons = [_button(choice, f"{begin}{number}") for number, choice in enumerate(shown)]
    return [
        {"type": "actions", "elements": buttons[start : start + _IN_BLOCK]}
        for start in range(0, len(buttons), _IN_BLOCK)
    ]


def chosen(action: Mapping[str, Any]) -> Typed:
    """The command behind a pressed button."""
    command, argument = json.loads(str(action["value"]))
    return Typed(str(command), str(argument))


def _button(choice: Choice, action_id: str) -> Block:
    button: Block = {
        "type": "button",
        "text": {"type": "plain_text", "text": choice.label[:_LONGEST_LABEL] or "…"},
        "action_id": action_id,
        "value": json.dumps([choice.command, choice.argument], separators=(",", ":")),
    }
    return button | ({"style": "danger"} if choice.is_danger else {})
