"""Renders the conversation before a question as a block of the prompt, within a token budget. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memory.rules.retrieval.prompt import CHARACTERS_PER_TOKEN, indented, neutralise, one_line

FIRST_LINE_CHARACTERS = 120
"""Characters left of an older text if there is no room for all of it."""

_MEANT = "meant"


class Speaker(StrEnum):
    """The author of a message, as the prompt names them."""

    ASKER = "asker"
    """The person who asks now."""
    OTHER = "person"
    """Another person, by name."""
    BOT = "you"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLine:
    """A message before the question."""

    speaker: Speaker
    text: str
    name: str = ""
    """The name of another person; never an id."""
    meant: str = ""
    """The message rewritten to stand alone, if it was."""
    is_replied_to: bool = False
    """Whether the question is a reply to it."""

    def whole(self) -> str:
        """The whole message."""
        return self._lines(indented(self.text), indented(self.meant))

    def first_line(self) -> str:
        """The start of the first line, for older messages."""
        return self._lines(*(one_line(_first(text), FIRST_LINE_CHARACTERS) for text in (self.text, self.meant)))

    def cut(self, characters: int) -> str:
        """The start of the message, at most this many characters long."""
        whole = replace(self, text=self.text[:characters], meant=self.meant[:characters]).whole()
        is_whole = len(self.text) <= characters and len(whole) <= characters
        return whole if is_whole else f"{whole[: max(0, characters - 1)]}…"

    def _lines(self, text: str, meant: str) -> str:
        name = f' "{one_line(self.name, 40).replace(chr(34), "")}"' if self.name else ""
        reply = " (replied to now)" if self.is_replied_to else ""
        lines = f"- {self.speaker}{name}{reply}: {text}"
        return f"{lines}\n- {_MEANT}: {meant}" if meant else lines


def render_conversation(earlier: Sequence[ChatLine], budget_tokens: int) -> str:
    """The messages, oldest first, in at most `budget_tokens`; empty if there are none or none fits.

    If not all fit: the newest in full, the first lines of earlier ones, and always that of the very first; the number
    of those left out is given. Deterministic.
    """
    room = budget_tokens * CHARACTERS_PER_TOKEN
    if sum(len(each.text) for each in earlier) <= room:
        whole = [each.whole() for each in earlier]
        if sum(map(_cost, whole)) <= room:
            return "\n".join(whole)
    return "\n".join(_shortened(earlier, room))


def _shortened(earlier: Sequence[ChatLine], room: int) -> list[str]:
    """The newest messages in full in half of the room, then first lines; room is kept for the very first one."""
    first = earlier[0].first_line() if len(earlier) > 1 else ""
    first = first if _cost(first) <= room // 4 else ""
    left = room - (_cost(first) + _cost(_left_out(len(earlier))) if first else 0)
    newest = earlier[-1].cut(left - 1)
    if not newest.strip():
        return []
    left -= _cost(newest)
    lines, index = [newest], len(earlier) - 2
    while index > 0 and len(earlier[index].text) <= left and _cost(whole := earlier[index].whole()) <= left - room // 2:
        left -= _cost(whole)
        lines.append(whole)
        index -= 1
    while index > 0 and _cost(short := earlier[index].first_line()) <= left:
        left -= _cost(short)
        lines.append(short)
        index -= 1
    if index > 0 and first:
        lines.append(_left_out(index))
    return [*([first] if first else []), *reversed(lines)]


def _cost(text: str) -> int:
    """The length of a line, with its line break."""
    return len(text) + 1


def _left_out(count: int) -> str:
    return f"(… {count} more …)"


def _first(text: str) -> str:
    start = neutralise(text[: 4 * FIRST_LINE_CHARACTERS]).strip()
    return next((line for line in start.splitlines() if line.strip()), "")
