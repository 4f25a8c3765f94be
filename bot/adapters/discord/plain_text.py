"""Converts Discord's Markdown in people's messages to plain text.

The dialect: discord.com/developers, "Message Formatting".
"""

import re
from collections.abc import Iterable, Mapping

from bot.adapters import command_words
from bot.adapters.commonmark import on_own_lines

MENTION = re.compile(r"<(?P<kind>@!|@&|@|#)(?P<id>\d{1,20})>")
"""A mention of a person, a role or a channel."""
UNNAMED = {"@": "somebody", "@!": "somebody", "@&": "a-role", "#": "a-channel"}
"""Used in place of a name that Discord does not tell."""
_ONE_MENTION = re.compile(r"<(?:@!?|#)(?P<id>\d+)>")
_EMOJI = re.compile(r"<a?:(?P<name>\w+):\d+>")
_COMMAND = re.compile(r"</(?P<name>[^:<>]+):\d+>")


def plain_text(text: str, names: Mapping[str, str]) -> str:
    """The text as people read it. `names` has people, roles and channels by id; others become `UNNAMED`."""

    def named(found: re.Match[str]) -> str:
        return f"{'#' if found['kind'] == '#' else '@'}{names.get(found['id']) or UNNAMED[found['kind']]}"

    shown = _COMMAND.sub(r"/\g<name>", _EMOJI.sub(r":\g<name>:", text))
    return on_own_lines(MENTION.sub(named, shown), names_language=True).strip()


def as_command(text: str, names: Mapping[str, str]) -> str:
    """The text of a possible command: plain, but with ids where a command takes people or channels."""
    return plain_text(command_words.with_ids(text, _ONE_MENTION), names)


def mentions(text: str, *ids: int) -> bool:
    """Whether the text itself mentions one of these users or roles; a reply can ping without."""
    return re.search(_any_of(ids), text) is not None


def without_mention(text: str, *ids: int) -> str:
    """The text without the mentions of these users and roles and the punctuation after the first one."""
    return command_words.without_mention(text, _any_of(ids))


def _any_of(ids: Iterable[int]) -> str:
    return f"<@[!&]?(?:{'|'.join(map(str, ids))})>"
