"""Finds the answer to a conversation's first message by what people marked. Pure.

An answer is what the asker marked with ✅ or 👍 or thanked for in words ("thanks, that worked"), and what somebody
pinned. Without a mark it is unknown whether an answer is right, so none is taken.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.adapters.sources.entries import SourceChannel, SourceEntry
from bot.conversation.feedback.feedback_in_words import feedback_in
from bot.conversation.listening.follow_up import asks_something
from memory.model.teaching import EmojiMap, emoji_spellings

CHECKS = frozenset(
    {"white_check_mark", "heavy_check_mark", "ballot_box_with_check", "check", "✅", "✔", "☑"}
)  # fmt: skip
"""Emoji that mark something as settled, as `memory.model.teaching` spells them."""
_SHORTEST = 3
"""The least letters and digits of an answer: less is "ok"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of an export."""

    id: str
    author: str
    text: str
    reactions: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Ids of the people who reacted, by emoji."""
    is_pinned: bool = False
    is_bot: bool = False
    reply_to: str = ""
    """The id of the message it replies to; empty if it is no reply."""


_CHECK, _WORDS, _PIN, _THUMB = "✅ by who asked", "accepted in words", "pinned", "👍 by who asked"
_STRENGTHS = (_CHECK, _WORDS, _PIN, _THUMB)
"""The marks, most reliable first."""


def answered_question(
    thread: Sequence[Message], place: SourceChannel, emoji: EmojiMap, left_out: Counter[str], *, day: str, key: str
) -> SourceEntry | None:
    """A thread's first message with its marked answer; None if there is none, which `left_out` counts by reason.

    The answer is all that its author wrote with the same mark. `key` identifies the conversation, `day` is when it was.
    """
    if len(thread) < 2:
        return None
    question, *replies = thread
    if question.is_bot or not question.text.strip():
        return None
    marks = {each.id: mark for each in replies if (mark := _mark(question, each, emoji))}
    marks = _accepted_in_words(question, replies) | marks
    best = next((mark for mark in _STRENGTHS if mark in marks.values()), None)
    if best is None:
        left_out["threads without a marked answer"] += 1
        return None
    if best in (_PIN, _THUMB) and not asks_something(question.text):
        left_out["marked replies to what is no question"] += 1
        return None
    taken = [each for each in replies if marks.get(each.id) == best]
    author = taken[-1].author
    answers = [each for each in taken if each.author == author]
    return SourceEntry(
        position=f"{place.name} {day}".strip(),
        question=question.text,
        answer="\n\n".join(each.text.strip() for each in answers),
        key=f"{key}/{question.id}/{answers[0].id}",
        mark=best,
        place=place,
        author=author,
        asker=question.author,
    )


def reply_chains(messages: Sequence[Message]) -> list[list[Message]]:
    """The conversations that replies make, each starting with its first message, in order."""
    begun: dict[str, list[Message]] = {}
    root_of: dict[str, str] = {}
    for each in messages:
        root = root_of.get(each.reply_to, "") if each.reply_to else ""
        root_of[each.id] = root or each.id
        begun.setdefault(root or each.id, []).append(each)
    return [chain for chain in begun.values() if len(chain) > 1]


def _mark(question: Message, reply: Message, emoji: EmojiMap) -> str:
    """The most reliable mark of a reply; empty if it has none or is no answer."""
    if not _is_answer(reply):
        return ""
    own = {
        name for raw, people in reply.reactions.items() if question.author in people for name in emoji_spellings(raw)
    }
    if own & CHECKS:
        return _CHECK
    if reply.is_pinned:
        return _PIN
    is_thumb = any(question.author in people and emoji.value(raw) == 1 for raw, people in reply.reactions.items())
    return _THUMB if is_thumb and reply.author != question.author else ""


def _accepted_in_words(question: Message, replies: Sequence[Message]) -> dict[str, str]:
    """The mark of the reply that the asker's thanks confirm, by its id."""
    before: Message | None = None
    for each in replies:
        if each.author != question.author:
            before = each
        elif before is not None and _is_answer(before):
            reading = feedback_in(each.text, question.text, before.text)
            if reading is not None and reading.approves:
                return {before.id: _WORDS}
    return {}


def _is_answer(reply: Message) -> bool:
    return not reply.is_bot and bool(reply.author) and sum(map(str.isalnum, reply.text)) >= _SHORTEST
