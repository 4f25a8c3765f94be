"""Parses commands: a message of only these words, or the words after the slash command."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from bot.adapters.private_reply import no_reply, reply_to as reply_to_person
from bot.conversation.feedback.answer_parts import PART
from bot.conversation.feedback.feedback_in_words import feedback_in
from bot.conversation.feedback.note_in_words import note_in
from bot.conversation.reply import NUMBERS
from bot.model import Address, PersonCommand, PersonCorrection, PersonTeaching
from memory.model import Role, Scope

CORRECT = "correct"
NOTE = "note"
"""`remember that ...` behind the slash command. Elsewhere it is an ordinary message (`FeedbackHandler.note_of`)."""
RESTATE = "restate"
CHOOSE = "choose"
TEACH = "teach"
WITH_TEXT = (RESTATE, TEACH)
"""Commands with an id and a text after it."""

SETTINGS = "settings"
_SETTING = (
    r"(?:mode|known-answers|teachers|allowed-people|allowed-channels|digest|control-arm|approvals)(?: everywhere)?"
)
_ID = r"[0-9a-f]{8,24}"
_PAGE = r"page \d{1,6}"
_PLACE = r"\d{1,3}"
"""The place of an item in a list, which people write instead of its id; they are told what an id is."""
_LISTED = rf"(?:{_ID}|{_PLACE})(?: (?:review|archived))?(?: {_PAGE})?"
_PERSON = r"(?:<@[^>\s]+>|@\S+|(?=\S*\d)[\w.:-]+)"
"""A mention or an id. A word without a digit is neither, so that it may be a question."""

_ARGUMENTS = {
    "help": "",
    "why": rf"(?:{NUMBERS})?",
    "parts": "",
    "memory": rf"(?:{_PAGE}|(?:topics|archived)(?: {_PAGE})?|drop (?:language|length|emoji|layout|tone))?",
    "archive": rf"(?:{_LISTED})?",
    "restore": rf"(?:{_LISTED})?",
    "ratings": rf"(?:{_PAGE})?",
    "unrate": rf"(?:(?:{_ID}|{_PLACE})(?: {_PAGE})?)?",
    "reminders": rf"(?:{_PAGE}|cancel {_ID})?",
    "new": "",
    "undo": rf"(?:{_ID})?",
    "export": r"(?:json|csv|prompt)?",
    "forget": r"(?:(?:me )?yes|me)?",
    RESTATE: "",
    "remember": r"(?:this|that|it)",
    "privacy": "",
    "stop": "",
    CHOOSE: rf"(?:{_ID} )?(?:[1-9]\d?|none|no)(?: (?:short|always))?",
    "mode": r"(?:mention|threads|always|default)?",
    SETTINGS: rf"(?:history|undo {_SETTING}|{_SETTING}(?: \S+){{0,100}})?",
    "review": rf"(?:{_PAGE}|batch {_ID}(?: (?:approve|reject) (?:{_ID}|all(?: yes)?))?(?: {_PAGE})?)?",
    "promote": rf"(?:(?:{_ID}|{_PLACE})(?: (?:channel|workspace|personal|back))?(?: {_PAGE})?)?",
    "release": rf"(?:(?:{_ID}|{_PLACE})(?: {_PAGE})?)?",
    "purge": rf"(?:{_PERSON}(?: yes)?)?",
    "gaps": "",
    TEACH: rf"{_ID}",
    "known-answers": r"(?:on|off)?",
}
COMMANDS = tuple(_ARGUMENTS)
"""Every command of the bot, those for teachers last."""

_SERIOUS = ("forget", "export")
"""Commands that are questions instead if they end with a question mark."""
_FORGET_ME = re.compile(
    r"(?:please )?(?:forget (?:everything|all)|(?:forget|delete|erase|remove) "
    r"(?:(?:(?:everything|all)(?: (?:that )?you (?:know|have))? )?about me|(?:all )?(?:of )?my data))",
    re.IGNORECASE,
)
"""Other words for `forget me`, which asks before it erases anything."""
_NAMES_IDS = re.compile(r"(?:purge|settings)\b", re.IGNORECASE)
_DECISIONS = ("promote", "release", "archive", TEACH)
_ON_A_PAGE = re.compile(rf"\b{_PAGE}\Z")
"""A command about an item on a page; the reply shows that page again."""
_CORRECTION = re.compile(r"correct(?:\s*[:：](?=\s|\Z)|[:：](?=\W*\w))(?P<text>.*)", re.IGNORECASE | re.DOTALL)
"""With a space before the colon, as in French, or without one after it; not "correct :)"."""


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A command with its argument; of `correct` that is the right answer, of `note` the whole message."""

    name: str
    argument: str = ""

    @property
    def is_choice(self) -> bool:
        """Whether it chooses an option of the bot's question."""
        return self.name == CHOOSE

    @property
    def keeps_message(self) -> bool:
        """Whether the message with its button stays, because it has other choices that the reply does not list."""
        is_of_several = self.name in _DECISIONS and not _ON_A_PAGE.search(self.argument)
        return self.is_choice or self.name == PART or is_of_several

    @property
    def refuses_all(self) -> bool:
        """Whether it refuses all options of the bot's question."""
        return self.is_choice and self.argument.endswith("none")


def command_event(
    typed: ParsedCommand,
    *,
    event_id: str,
    scope: Scope,
    at: datetime,
    role: Role,
    message_id: str = "",
    address: Address = Address.DIRECT,
    typed_in: str = "",
    reply_to: str = "",
    is_role_local: bool = False,
) -> PersonCommand | PersonCorrection | PersonTeaching:
    """The event of a typed, clicked or chosen command; `message_id` is the answer it is about."""
    if typed.name == NOTE and (note := note_in(typed.argument)):
        return PersonTeaching(
            event_id=event_id,
            scope=scope,
            question=note.question,
            answer=note.statement,
            at=at,
            role=role,
        )
    if typed.name == CORRECT:
        return PersonCorrection(
            event_id=event_id,
            scope=scope,
            text=typed.argument,
            at=at,
            role=role,
            message_id=message_id,
            address=address,
            is_answerable=reply_to_person(scope.person) is not no_reply,
        )
    return PersonCommand(
        event_id=event_id,
        scope=scope,
        name=typed.name,
        argument=typed.argument,
        at=at,
        role=role,
        message_id=message_id,
        typed_in=typed_in,
        reply_to=reply_to,
        is_role_local=is_role_local,
    )


def correction_in(typed: ParsedCommand | None, text: str) -> ParsedCommand | None:
    """The correction in a message, as a command or in plain words; it counts even from a rate-limited person."""
    if typed is not None:
        return typed if typed.name == CORRECT else None
    reading = feedback_in(text)
    if reading is None or not reading.is_sure or not reading.correction:
        return None
    return ParsedCommand(CORRECT, reading.correction)


def command_in(text: str) -> ParsedCommand | None:
    """The command that a whole message is. With other words it is none: "why is the sky blue?" is for the agent."""
    if found := _CORRECTION.fullmatch(text.strip()):
        return ParsedCommand(CORRECT, found["text"].strip())
    if with_text := _with_text(text):
        return with_text
    words = " ".join(text.split())
    words_given = words.rstrip(".!?")
    if _FORGET_ME.fullmatch(words.rstrip(".!")):
        return ParsedCommand("forget", "me")
    name, _, argument = words_given.partition(" ")
    name = name.lower()
    if name not in _ARGUMENTS or not re.fullmatch(_ARGUMENTS[name], argument, re.IGNORECASE):
        return None
    if "?" in words[len(words_given) :] and (argument or name in _SERIOUS):
        return None
    return ParsedCommand(name, argument if name in ("purge", SETTINGS) else argument.lower())


def _with_text(text: str) -> ParsedCommand | None:
    """`restate ID QUESTION` or `teach ID ANSWER`, perhaps with # before the id, with the text unchanged."""
    words_given = text.split(maxsplit=2)
    if (
        len(words_given) < 3
        or words_given[0].lower() not in WITH_TEXT
        or not re.fullmatch(rf"#?{_ID}", words_given[1], re.IGNORECASE)
    ):
        return None
    return ParsedCommand(words_given[0].lower(), f"{words_given[1].lower()} {words_given[2].strip()}")


def without_mention(text: str, tag: str) -> str:
    """The text without the mentions that match a pattern, and the punctuation after the first one."""
    text = re.sub(rf"^\s*+{tag}\s*+[:,]?\s*+", "", text)
    return re.sub(rf"(?<![^\S\n])[^\S\n]*+{tag}", "", text).strip()


def with_ids(text: str, mention: re.Pattern[str]) -> str:
    """The text with mentions as ids if it may be a command about people or channels, as names are not unique."""
    return mention.sub(r"\g<id>", text) if _NAMES_IDS.match(text.strip()) else text


async def unaddressed_command(
    typed: ParsedCommand | None, *, is_busy: bool, is_answered: bool, is_for_bot: Callable[[], Awaitable[bool]]
) -> tuple[ParsedCommand | None, bool]:
    """The command in a message that does not mention the bot, and whether the message is for the bot.

    `stop` counts while the bot works there (`is_busy`), a correction where it answered (`is_answered`). Of every other
    message `is_for_bot` decides, and it is no command.
    """
    if typed is not None and typed.name == "stop":
        return typed, is_busy
    if typed is not None and typed.name == CORRECT and is_answered:
        return typed, True
    return None, await is_for_bot()


def slash_command(text: str) -> ParsedCommand:
    """The command of a slash command's text; `help` if it is empty."""
    if note_in(text):
        return ParsedCommand(NOTE, text)
    name, _, argument = text.strip().partition(" ")
    return ParsedCommand(name.lower().rstrip(":") or "help", argument.strip())


def after_mention(bot_name: str, command: str) -> str:
    """How to type a command after a mention, which works everywhere, also in threads."""
    return f"@{bot_name} {command}:" if command == CORRECT else f"@{bot_name} {command}"
