"""Emoji as platforms spell them, made comparable, and what each is worth.

Rules from the platform pages: Slack sends names with an optional skin tone (`+1::skin-tone-3`), Discord sends the
character with its modifiers (U+1F44D U+1F3FD) or a custom emoji by name and id, everybody may add U+FE0F.
"""

import re
from collections.abc import Iterable

_MODIFIERS = re.compile("[\ufe0f\ufe0e\U0001f3fb-\U0001f3ff]")
_CUSTOM = re.compile(r"^<?(?:a?:)?(?P<name>\w+):(?P<id>\d{5,})>?$")


def normalise(raw: str) -> str:
    """One spelling per emoji: no skin tone, no variation selector, no colons, lower case. Empty for nothing left."""
    text = raw.strip()
    if text.startswith(":") and text.endswith(":") and len(text) > 2:
        text = text[1:-1]
    text = text.split("::", 1)[0]
    return _MODIFIERS.sub("", text).strip().casefold()


def spellings(raw: str) -> tuple[str, ...]:
    """Every name an emoji may be configured under: itself, or a custom emoji's name and id."""
    custom = _CUSTOM.match(raw.strip())
    if custom:
        return (normalise(custom["name"]), custom["id"])
    return (normalise(raw),)


class EmojiMap:
    """What an emoji means as feedback. Whatever is in neither list means nothing."""

    def __init__(self, success: Iterable[str], failure: Iterable[str]) -> None:
        self._value = {normalise(emoji): 1 for emoji in success}
        for emoji in failure:
            if self._value.get(normalise(emoji)) == 1:
                raise ValueError(f"{emoji!r} is listed both as success and as failure; keep it in one list")
            self._value[normalise(emoji)] = -1

    def value(self, raw: str) -> int | None:
        """+1, -1, or None for an emoji that is no feedback."""
        return next((self._value[name] for name in spellings(raw) if name in self._value), None)
