"""Flags texts that wait for a teacher's review before they may enter a prompt.

Keyword filters stop careless and copied attacks only, as they are easy to bypass. Others are protected from poisoned
lessons by who may validate them, and prompts by showing lessons as data. This is one more layer, and a list for review.
"""

import re
from collections.abc import Iterable
from enum import StrEnum

from memory.model import NEEDS_QUESTION, RESTATED, Episode, StepKind
from memory.model.normal_form import normalised
from memory.rules.retrieval.prompt import escapes, escapes_as_shown, without_invisible

LESSON_CHARACTERS = 4000
"""The most characters of a lesson without review. This is two thirds of the default prompt budget of all lessons (1,500
tokens of 4 characters), and long texts can hide instructions."""


class Flag(StrEnum):
    """Why a text is quarantined."""

    INJECTION = "injection"
    """It gives instructions to the model."""
    DELIMITER = "delimiter"
    """It imitates the format of the prompt."""
    SECRET = "secret"  # noqa: S105 - the name of a reason
    """It had a password, token or key, which was redacted, so that the lesson may be useless."""
    LENGTH = "length"
    """It is longer than `LESSON_CHARACTERS`."""
    NEEDS_QUESTION = NEEDS_QUESTION
    """Its question was of a person who is forgotten: it waits for a question by its author, not for a teacher."""
    RESTATED = RESTATED
    """Its author changed its question after others approved or rejected it."""


_INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}"
    r"\b(?:previous|prior|above|earlier|preceding|all|any|your|system|these|those)\b.{0,30}"
    r"\b(?:instructions?|prompts?|rules?|guidelines?|directions?|lessons?|context|safety)\b"
    r"|\b(?:ignorier\w*+|vergiss|missachte\w*+)\b.{0,40}\b(?:anweisung\w*|regeln|vorgaben|instruktion\w*)\b"
    r"|\b(?:ignore[rz]?|oublie[rz]?)\b.{0,40}\b(?:instructions?|consignes?|règles?)\b"
    r"|\b(?:ignora\w*+|olvida\w*+)\b.{0,40}\b(?:instrucciones|reglas|instruções|istruzioni|regole)\b"
    # Within the word or up to 40 characters after it. The first cue of a word is enough, as it reaches farthest.
    r"|(?<!\w)(?>\w*?(?:игнорируй|забудь))(?:\w*?|\w*+.{0,40}?)(?:инструкци|правил|указани)"
    r"|(?:忽略|无视|無視|忘记).{0,12}(?:指令|指示|说明|規則|规则|提示)"
    r"|\b(?:from now on|henceforth),? (?:you|always|never|respond|reply|answer)\b"
    r"|\byou are (?:now|no longer)\b.{0,40}"
    r"\b(?:assistant|model|ai|bot|dan|admin|developer|root|jailbroken|unrestricted)\b"
    r"|\b(?:reveal|print|show|repeat|output|leak)\b.{0,30}"
    r"\b(?:system|hidden|initial|developer) (?:prompt|instructions?|message)\b"
    r"|\b(?:do not|don't|never) (?:tell|inform|warn|mention (?:this|it) to) "
    r"(?:the )?(?:user|users|person|anyone|admin\w*)\b"
    r"|\b(?:new|updated|real) (?:system )?(?:instructions?|prompt)\s*:"
    r"|\b(?:system|developer) (?:prompt|message|override)\s*:"
    r"|\b(?:jailbreak|developer mode (?:on|enabled)|do anything now)\b"
)
_CUES = (
    "ignor", "disregard", "forget", "override", "bypass", "vergiss", "missachte", "oublie", "olvida",
    "игнорируй", "забудь", "忽略", "无视", "無視", "忘记", "from now on", "henceforth", "you are n",
    "prompt", "instruction", "message", " tell ", " inform ", " warn ", " mention ",
    "jailbreak", "developer mode", "do anything now",
)  # fmt: skip
"""Each match of the pattern above contains one of these, so the pattern is skipped for texts without any."""
_TEMPLATE = re.compile(
    r"<\|[a-z_]{2,24}\|>|\[/?inst\]|<</?sys>>|<(?:/|)(?:system|assistant|instructions?)>"
    r"|^[ \t]*#{2,8}[ \t]*+(?:system|instructions?|assistant|response)[ \t]*+(?::[ \t]*+)?$",
    re.MULTILINE,
)  # fmt: skip


def flags(text: str, *, limit: int | None = None) -> tuple[Flag, ...]:
    """The reasons to review a text; empty for most. `limit` is the most characters it may have."""
    if not text:
        return ()
    shown = without_invisible(text)
    plain = normalised("NFKC", shown).replace("\u200d", "").replace("\ufe0f", "").casefold()
    found: list[Flag] = []
    folded = " ".join(plain.split())
    if any(map(folded.__contains__, _CUES)) and _INJECTION.search(folded):
        found.append(Flag.INJECTION)
    is_other = plain != (text.lower() if text.isascii() else text)  # `escapes` ignores case
    may_be_template = "<" in plain or "[" in plain or "##" in plain
    if escapes_as_shown(shown) or (is_other and escapes(plain)) or (may_be_template and _TEMPLATE.search(plain)):
        found.append(Flag.DELIMITER)
    if limit is not None and len(text) > limit:
        found.append(Flag.LENGTH)
    return tuple(found)


def flags_of(episode: Episode, *, limit: int | None = None) -> tuple[Flag, ...]:
    """The reasons to review an episode, by the texts of its run. Reason and correction are not checked."""
    shown = [
        episode.goal,
        episode.action,
        episode.action_target,
        episode.output,
        episode.task_incomplete,
        episode.place,
    ]
    for step in episode.trajectory:
        if step.kind is StepKind.EXPAND:
            shown += (step.flow, *step.subgoals)
        elif step.kind is StepKind.ACT:
            shown += (step.tool, *step.arguments, *map(str, step.arguments.values()))
    return merged(flags(text, limit=limit) for text in dict.fromkeys(shown) if text)


def merged(found: Iterable[tuple[Flag, ...]]) -> tuple[Flag, ...]:
    """The union of reasons, in the order of `Flag`."""
    every = {flag for each in found for flag in each}
    return tuple(flag for flag in Flag if flag in every) if every else ()
