"""Finds lines that are reactions: only emoji, or names of emoji."""

import re

from memory.model.teaching import normalised_emoji

_TONE = "[\U0001f3fb-\U0001f3ff]"
_PICTURE = (
    "(?:[\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
    "\u231a\u231b\u23e9-\u23f3\u2600-\u27bf\u2b1b\u2b1c\u2b50\u2b55]\ufe0f?"
    # Text characters that are emoji only with the variation selector: ©️ ↩️ ⏏️ Ⓜ️ ▶️
    "|[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u25ff\u2934\u2935\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299]\ufe0f)"
)
_PART = f"{_PICTURE}{_TONE}?[\U000e0020-\U000e007f]*"
_EMOJI = re.compile(
    f"[\U0001f1e6-\U0001f1ff]{{2}}"  # a flag
    f"|[0-9#*]\ufe0f?\u20e3"  # a keycap
    f"|{_PART}(?:\u200d{_PART})*"  # a picture, or several joined into one
)
_WORD = re.compile(r"(?:\+1|-1|thumbsup|thumbsdown)(?:::skin-tone-[2-6])?", re.IGNORECASE)
_NAME = re.compile(r":([\w+'-]+(?:::skin-tone-[2-6])?):")

_THUMBS = {"+1": "👍", "thumbsup": "👍", "-1": "👎", "thumbsdown": "👎"}


def reactions_in(text: str) -> tuple[str, ...]:
    """The emoji of a line with nothing else, as typed (names without colons); empty for any other line."""
    if _WORD.fullmatch(text):
        return (text,)
    found: list[str] = []
    for word in text.split():
        if name := _NAME.fullmatch(word):
            found.append(name[1])
        elif "".join(parts := _EMOJI.findall(word)) == word:
            found.extend(parts)
        else:
            return ()
    return tuple({same_emoji(emoji): emoji for emoji in reversed(found)}.values())[::-1]


def same_emoji(raw: str) -> str:
    """The normal form of an emoji: 👍, 👍🏽, `+1` and `thumbsup` have the same."""
    name = normalised_emoji(raw)
    return _THUMBS.get(name, name)
