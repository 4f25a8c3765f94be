"""Parses typed lines. Pure. Raises `CommandRefused`, which says why a line is not carried out and what to do."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import TypeAlias

from bot.adapters.command_words import command_in
from bot.adapters.terminal.reactions import reactions_in
from bot.conversation.reply import NUMBERS
from bot.errors import CommandRefused
from memory.model.normal_form import normalised

MAX_CHARACTERS = 32_000
"""The longest message; longer ones are refused, not cut."""
_MAX_NAME = 40
_MAX_EMOJI = 80
_LEAVES = ("quit", "exit")
"""Words that quit, as in other programs."""
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_LESSON_ID = re.compile(r"[0-9a-f]{8,32}", re.ASCII | re.IGNORECASE)
_EXPORT_FORMATS = {".json": "json", ".csv": "csv", ".txt": "prompt", ".md": "prompt"}

_HELP = """\
Type a message to ask something. To teach:
  👍 or +1              the last answer was right
  👎 or -1              it was wrong
  /correct TEXT         what would have been right
  remember that ...     something to know, without a question
  /react EMOJI [n]      react to answer [n]; without n, to the last one
  /unreact [EMOJI] [n]  take a reaction back
  /new                  begin a new conversation: what was said before is left out of it
  /undo                 take back what you taught last
  /ratings [page N]     your ratings; /unrate ID takes one back
  /parts                which parts of the last answer were right
  /reminders            what you are reminded of here; /reminders cancel ID
  /restate [ID TEXT]    lessons that need a new question; gives one its question
To choose, where I ask what you mean:
  N, or /choose N       the option with that number, or none of them; or type what it says
To look:
  /why [n] [numbers]    which lessons an answer used; /why ID how a lesson fared
  /memory [topics]      what is remembered for you, and about things; /archive ID, /restore ID
  /memory archived      lessons out of use that you may restore
  /export [FILE]        save it: FILE.json, FILE.csv, FILE.txt or FILE.md
  /forget               erase everything of yours
  /privacy              what is kept, and who sees it
{teachers}And:
  /stop                 stop the running answer
  /as NAME              speak as somebody else
  /help                 this list
  /quit                 leave (Ctrl-D too); Ctrl-C stops a running answer
  //text                a message that starts with a slash"""

_FOR_TEACHERS = """\
For teachers:
  /review [page N]      lessons that wait for a teacher
  /review batch ID      what was learned from one file, and waits
  /release ID           let a lesson be used that I hold back
  /promote ID [channel|workspace|personal]
                        whom a lesson counts for
  /gaps                 what nobody could answer; /teach ID ANSWER
  /known-answers on|off
                        give what people taught without asking the model
  /purge NAME           take back everything somebody taught; asks first
For administrators:
  /settings [NAME VALUE]
                        who teaches, who may use me, how I listen
"""


def help_text(*, teacher: bool) -> str:
    """The help text, with the commands for teachers if they are one."""
    return _HELP.format(teachers=_FOR_TEACHERS if teacher else "")


@dataclass(frozen=True, slots=True)
class Say:
    """A message for the bot."""

    text: str


@dataclass(frozen=True, slots=True)
class React:
    """Emoji to add to an answer; `number` is None for the last one."""

    emoji: tuple[str, ...]
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Unreact:
    """An emoji to remove from an answer; empty for the latest one."""

    emoji: str = ""
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the bot or of the terminal; `number` is that of the answer it is about."""

    name: str
    argument: str = ""
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Export:
    """An export; with an empty file name the bot chooses one."""

    file: str = ""
    format: str = ""
    """`json`, `csv` or `prompt`, by the file's suffix; empty without one."""


Act: TypeAlias = Say | React | Unreact | Command | Export


def parse(line: str) -> Act | None:
    """Parse a line; None for an empty one. Raises `CommandRefused`."""
    text = line.strip()
    if not text:
        return None
    if problem := problem_with(text):
        raise CommandRefused(f"{problem}; it was not sent")
    if emoji := reactions_in(text):
        return React(emoji)
    if text.startswith("//"):
        return Say(text[1:])
    if not text.startswith("/"):
        return _words(text)
    word, _, rest = re.sub(r"\s", " ", text[1:], count=1).partition(" ")
    known = _COMMANDS.get(word.casefold())
    if known is None:
        raise _unknown(word)
    return known(rest.strip())


def problem_with(text: str) -> str:
    """Why a text cannot be a message; empty if it can."""
    if len(text) > MAX_CHARACTERS:
        return f"the message has {len(text):,} characters, more than the {MAX_CHARACTERS:,} that are allowed"
    # Cc: control characters; Cs: halves of characters, from input that was not valid UTF-8.
    wrong = next((c for c in text if c not in "\t\n\r" and unicodedata.category(c) in ("Cc", "Cs")), "")
    return f"the message holds a control character (U+{ord(wrong):04X}) and looks like binary data" if wrong else ""


def _words(text: str) -> Act:
    """Parse a text without a slash: a message, or a command in words, as in direct messages of all platforms."""
    if text.casefold() in _LEAVES:
        return Command("quit")
    typed = command_in(text)
    if typed is None or typed.name not in _COMMANDS:
        return Say(text)
    if typed.name == "export":
        return Export("", typed.argument)
    return _COMMANDS[typed.name](typed.argument)


def _unknown(word: str) -> CommandRefused:
    similar = get_close_matches(word.casefold(), _COMMANDS, n=1, cutoff=0.55)
    shown = word if len(word) <= _MAX_NAME else f"{word[:_MAX_NAME]}…"
    hint = f"Did you mean /{similar[0]}?" if similar else f"To send text that starts with a slash, type //{shown}."
    return CommandRefused(f"there is no command /{shown}, so nothing was sent. {hint} /help lists the commands")


def _react(rest: str) -> Act:
    usage = "type /react EMOJI or /react EMOJI n, for example /react 👍 2"
    emoji, _, tail = rest.partition(" ")
    if not emoji or len(emoji) > _MAX_EMOJI:
        raise CommandRefused(usage)
    return React(reactions_in(emoji) or (emoji,), _number(tail, usage))


def _unreact(rest: str) -> Act:
    usage = "type /unreact, /unreact n or /unreact EMOJI n, for example /unreact 👍 2"
    emoji, tail = ("", rest) if _NUMBER.fullmatch(rest) else rest.partition(" ")[::2]
    if len(emoji) > _MAX_EMOJI:
        raise CommandRefused(usage)
    return Unreact((*reactions_in(emoji), emoji)[0], _number(tail, usage))


def _correct(rest: str) -> Act:
    if not rest:
        raise CommandRefused("type what would have been right after /correct")
    return Command("correct", rest)


def _why(rest: str) -> Act:
    if _LESSON_ID.fullmatch(rest):
        return Command("why", rest.casefold())
    typed = rest.removesuffix(NUMBERS)
    number = _number(typed, "type the number of an answer, as shown before it, for example /why 2")
    return Command("why", "" if typed == rest else NUMBERS, number)


def _export(rest: str) -> Act:
    ending = rest[rest.rfind(".") :].casefold() if "." in rest else ""
    if rest and ending not in _EXPORT_FORMATS:
        raise CommandRefused("an export's file name ends in .json, .csv, .txt or .md, for example /export lessons.json")
    return Export(rest, _EXPORT_FORMATS.get(ending, ""))


def _as(rest: str) -> Act:
    name = normalised("NFC", rest)
    if len(name) > _MAX_NAME or "/" in name or not name.isprintable():
        raise CommandRefused(f"a name has 1 to {_MAX_NAME} printable characters and no slash, for example /as ana")
    return Command("as", name)


def _number(text: str, usage: str) -> int | None:
    """The number of an answer; None if none was typed. Raises `CommandRefused` with the usage for another text."""
    digits = text.strip()
    if digits and not _NUMBER.fullmatch(digits):
        raise CommandRefused(usage)
    return int(digits) if digits else None


_PLAIN = (
    *("memory", "archive", "restore", "ratings", "unrate", "undo", "new", "restate", "forget", "privacy", "parts"),
    "part",
    *("stop", "choose", "review", "promote", "release", "purge", "gaps", "teach", "known-answers", "settings"),
    *("reminders", "help", "quit"),
)
"""Commands that are passed on unchanged."""

_COMMANDS: dict[str, Callable[[str], Act]] = {
    "react": _react,
    "unreact": _unreact,
    "correct": _correct,
    "why": _why,
    "export": _export,
    **{name: partial(Command, name) for name in _PLAIN},
    "as": _as,
}

COMMAND_NAMES = tuple(f"/{name}" for name in _COMMANDS)
