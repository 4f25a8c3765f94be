"""The texts about standing preferences."""

from collections.abc import Sequence

from bot.conversation.preference_in_words import StylePreference
from memory.services import Preference

_NOT_OFFLINE = " The offline model gives answers as people taught them; a language model will keep to it."


def noted(style: StylePreference, *, restyles: bool = True) -> str:
    """What was understood, and that it is no opinion of what was answered."""
    kept = f"Noted, for my answers to you from now on: {style.instruction} It says nothing about what is right."
    return f"{kept} `memory` shows it.{'' if restyles else _NOT_OFFLINE}"


def dropped(preference: Preference) -> str:
    """A preference was removed."""
    return f"Forgotten: “{preference.text}”"


NONE_SUCH = "You have no such preference."


def listed(preferences: Sequence[Preference]) -> str:
    """The person's preferences, above the list of lessons; nothing without any."""
    if not preferences:
        return ""
    return "\n".join(["**How you want to be answered**", "", *(f"- {each.text}" for each in preferences), "", ""])
