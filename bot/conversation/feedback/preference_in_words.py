"""Preferences in words: recognises a message that only says how somebody wants to be answered. Pure functions.

The rules are narrow, for English and German: the whole message must be such a wish. "In German please: good morning" is
a question. A wish becomes one of a fixed set of instructions, so that no person's words ever reach a system prompt.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.conversation.messages import HowToType
from memory.services import Preference

_LANGUAGES: Mapping[str, str] = {
    **dict.fromkeys(("english", "englisch"), "English"),
    **dict.fromkeys(("german", "deutsch"), "German"),
    **dict.fromkeys(("french", "französisch", "franzoesisch"), "French"),
    **dict.fromkeys(("spanish", "spanisch"), "Spanish"),
    **dict.fromkeys(("italian", "italienisch"), "Italian"),
    **dict.fromkeys(("portuguese", "portugiesisch"), "Portuguese"),
    **dict.fromkeys(("dutch", "niederländisch", "holländisch"), "Dutch"),
    **dict.fromkeys(("polish", "polnisch"), "Polish"),
    **dict.fromkeys(("czech", "tschechisch"), "Czech"),
    **dict.fromkeys(("swedish", "schwedisch"), "Swedish"),
    **dict.fromkeys(("danish", "dänisch"), "Danish"),
    **dict.fromkeys(("norwegian", "norwegisch"), "Norwegian"),
    **dict.fromkeys(("finnish", "finnisch"), "Finnish"),
    **dict.fromkeys(("russian", "russisch"), "Russian"),
    **dict.fromkeys(("ukrainian", "ukrainisch"), "Ukrainian"),
    **dict.fromkeys(("turkish", "türkisch"), "Turkish"),
    **dict.fromkeys(("japanese", "japanisch"), "Japanese"),
    **dict.fromkeys(("chinese", "chinesisch"), "Chinese"),
    **dict.fromkeys(("korean", "koreanisch"), "Korean"),
    **dict.fromkeys(("arabic", "arabisch"), "Arabic"),
    **dict.fromkeys(("hindi",), "Hindi"),
}

_SIGN = "🗣"
_LONGEST = 120
"""Characters. A longer message is never read as a wish."""
_LEAD = re.compile(
    r"(?:(?:no|nope|ok|okay|well|hm+|thanks|thank you|sorry|please|but|and|also|oh|nein|naja|danke|bitte|aber|und|auch"
    r"|(?:could|can|would|will) you(?: please)?|(?:kannst|könntest) du(?: bitte)?"
    r"|(?:i(?:['’]d| would) (?:like|prefer)|i want|i prefer|ich möchte|ich hätte gern)(?: (?:it|you to|that|es|das))?"
    r")\b[\s,.!:-]*)*",
    re.IGNORECASE,
)
_ASKS_IT = re.compile(r"\b(?:(?:could|can|would|will) you|kannst du|könntest du)\b", re.IGNORECASE)
_TAIL = re.compile(
    r"(?:[\s,.!:)-]|\b(?:please|pls|bitte|next time|from now on|in (?:the )?future|always|for me|to me|thanks|thank you"
    r"|ok|okay|nächstes mal|ab jetzt|in zukunft|künftig|immer|für mich|danke|again|instead|lieber|next|answers?|replies"
    r")\b)*",
    re.IGNORECASE,
)
_POLITE = re.compile(r"\b(?:please|pls|bitte)\b", re.IGNORECASE)
_JUDGED = (
    r"(?:(?:that|this|it|your (?:answers?|repl(?:y|ies))|the answer|you|das|es|deine antwort(?:en)?|die antwort)"
    r"(?:['’]s| is| was| are|['’]re| were| ist| war| sind| waren)? )?"
    r"(?:(?:a (?:bit|little)|way|much|far|just|still|always|etwas|viel|ein bisschen|immer) )*"
)
_ANSWERS = r"(?:it|them|that|answers|your answers)"
_ASKED = (
    r"(?:(?:(?:answer|reply|respond|write|speak|talk|say (?:it|that)|tell me|give me|make (?:it|them|that|your answers)"
    r"|keep (?:it|them|answers|your answers)|be|use|antworte|schreib|sprich|sag(?:e)? (?:es|das)|mach (?:es|das)|sei"
    r"|fass dich|halte dich|benutze?)(?: to)?(?: me| mir)?) )?(?:(?:a (?:bit|little)|etwas|much) )?(?:please |bitte )?"
)

_NOT_OFFLINE = " The offline model gives answers as people taught them; a language model will keep to it."


@dataclass(frozen=True, slots=True)
class StylePreference:
    """A wish about how to be answered."""

    kind: str
    """`language`, `length`, `emoji`, `layout` or `tone`."""
    instruction: str


_WISHES: Mapping[tuple[str, str], Sequence[str]] = {
    ("length", "Keep answers short."): (
        _JUDGED + r"(?:too|zu) (?:long|much text|verbose|wordy|detailed|much|lang|ausführlich|viel(?: text)?)",
        _ASKED + r"(?:shorter|briefer|briefly|more (?:brief|concise|briefly)|kürzer)",
        rf"(?:be|keep {_ANSWERS}|make {_ANSWERS}|answer|fass dich|sei|antworte) (?:short|brief|concise|kurz)",
        r"(?:less|weniger) (?:detail|details|text)",
    ),
    ("length", "Answer in more detail."): (
        _JUDGED + r"(?:too|zu) (?:short|brief|vague|kurz|knapp)",
        _ASKED + r"(?:longer|more details?|more detailed|in more detail|ausführlicher|mehr details?)",
    ),
    ("emoji", "Use no emoji."): (
        _ASKED + r"(?:no|without|drop the|stop using|less|fewer|skip the|keine?|ohne|weniger) (?:emojis?|smileys?)",
    ),
    ("layout", "Prefer bullet points."): (
        _ASKED + r"(?:(?:in|as|with|use|als|mit) )?(?:bullet ?points?|bullets|stichpunkten?)",
        _ASKED + r"(?:as|in|als) (?:a|eine) (?:bulleted )?(?:list|liste)",
    ),
    ("layout", "Write sentences, no bullet points."): (
        r"(?:no|without|keine|ohne) (?:bullet ?points?|bullets|lists|stichpunkte|listen)",
    ),
    ("tone", "Use simple words."): (
        _JUDGED + r"(?:too|zu) (?:complicated|technical|difficult|kompliziert|technisch|schwierig)",
        _ASKED
        + r"(?:simpler|in (?:plain|simple|simpler) (?:words|language|english|terms)|einfacher|in einfachen worten)",
    ),
    ("tone", "Be informal."): (
        _JUDGED + r"(?:too|zu) (?:formal|stiff|förmlich|steif)",
        _ASKED + r"(?:less formal|more casual|informal|lockerer|weniger förmlich)",
    ),
    ("tone", "Be formal."): (_ASKED + r"(?:more formal|förmlicher)",),
    ("language", ""): (_ASKED + rf"(?:in|auf|use|speak) (?P<language>{'|'.join(_LANGUAGES)})",),
}
"""The patterns of each wish, by its kind and its instruction, which for a language is made from the match."""
_RULES = [
    (re.compile(pattern, re.IGNORECASE), kind, instruction)
    for (kind, instruction), patterns in _WISHES.items()
    for pattern in patterns
]


def preference_in(message: str) -> StylePreference | None:
    """The wish that a message consists of; None if it says anything else."""
    text = " ".join(message.split())
    if not text or len(text) > _LONGEST or "?" in text[:-1]:
        return None
    if text.endswith("?"):
        if not _ASKS_IT.search(text):
            return None
        text = text[:-1]
    lead = _LEAD.match(text)
    for start in (0, lead.end() if lead else 0):
        for pattern, kind, instruction in _RULES:
            found = pattern.match(text, start)
            if found is not None and _TAIL.fullmatch(text, found.end()):
                return StylePreference(kind, instruction or f"Answer in {_LANGUAGES[found['language'].lower()]}.")
    return None


def is_plain(style: StylePreference, text: str) -> bool:
    """Whether a text is a wish in any context. A language name alone is not: it may be the answer to a question."""
    return style.kind != "language" or _POLITE.search(text) is not None


def as_understood(style: StylePreference) -> str:
    """The text stored with the message, as a record of the wish: `🗣 Answer in German.`"""
    return f"{_SIGN} {style.instruction}"


def is_preference(understood: str) -> bool:
    """Whether the text stored with a message records a wish."""
    return understood.startswith(f"{_SIGN} ")


def preference_of(style: StylePreference, event_id: str) -> Preference:
    """The preference to store for a wish."""
    return Preference(kind=style.kind, text=style.instruction, event_id=event_id)


def preference_noted(style: StylePreference, how_to_type: HowToType, *, follows_style: bool) -> str:
    """The confirmation: what was understood, and that it does not judge the answer."""
    kept = f"Noted, for my answers to you from now on: {style.instruction} It says nothing about what is right."
    return f"{kept} `{how_to_type('memory')}` shows it.{'' if follows_style else _NOT_OFFLINE}"


def preference_dropped(preference: Preference) -> str:
    """The message that a preference was removed."""
    return f"Forgotten: “{preference.text}”"


NO_SUCH_PREFERENCE = "You have no such preference."


def preferences_listed(preferences: Sequence[Preference]) -> str:
    """The section with a person's preferences, above the list of lessons; empty if there are none."""
    if not preferences:
        return ""
    return "\n".join(["**How you want to be answered**", "", *(f"- {each.text}" for each in preferences), "", ""])
