"""What the bot says about when it is quiet: how it listens, that somebody is too fast, that it does not know."""

import re
from datetime import timedelta

from bot.conversation.counts import count
from bot.conversation.messages import Spell
from memory.model import ListeningMode
from memory.rules.retrieval.prompt import shown_line

_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_REASON_LENGTH = 200
_ENDS = (".", "!", "?", "…")

NO_MODE_HERE = "In our direct messages everything is for me. `mode` is for channels."
MODES = {
    ListeningMode.MENTION: "Only when mentioned",
    ListeningMode.THREADS: "Also clear follow-ups",
    ListeningMode.ALWAYS: "Every message",
}
_LISTENS = {
    ListeningMode.MENTION: "I answer only what mentions me",
    ListeningMode.THREADS: "I answer what mentions me, and follow-ups to my answers that are clearly for me",
    ListeningMode.ALWAYS: "I answer everything that is not for somebody else",
}


def listening(mode: ListeningMode, place: str) -> str:
    """How the bot listens in a channel."""
    where = {"": "Here"}.get(place, f"In {place}")
    return f"{where}: {_LISTENS[mode]} (`{mode.value}`). 🤐 on a message of mine keeps me quiet in that thread."


def which_mode(command: str) -> str:
    """`mode` with a word that is none."""
    return f"I do not know that mode. `{command}` takes {', '.join(ListeningMode)} or default."


def rate_limited(rest: timedelta) -> str:
    """Tells a rate-limited person so, once."""
    minutes = round(rest.total_seconds() / 60)
    return (
        f"You write faster than I can keep up with, so I answer you again in {count(minutes, 'minute')}: please ask "
        "then what I have not answered. Corrections and reactions count all the same."
    )


def unknown(reason: str, spell: Spell) -> str:
    """To people in a channel: that the bot does not know, and what it would need. `reason` begins with a sentence."""
    first = shown_line(_SENTENCE_END.split(reason.strip(), maxsplit=1)[0], _REASON_LENGTH)
    end = "" if first.endswith(_ENDS) else "."
    return f"{first}{end} Whoever knows it, tell me: `{spell('correct')} ...`, and I will know it next time."
