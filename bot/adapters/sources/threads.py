"""Which message of a conversation answers its first one, as the people in it showed. Pure.

Taken is what the asker marked with ✅ or 👍, what the asker thanked for in words ("thanks, that worked"), and what
somebody pinned. Without a mark nobody knows whether an answer is right, so nothing is taken.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.adapters.sources.entries import SourceChannel, SourceEntry
from bot.conversation.feedback.feedback_in_words import Approval, read
from bot.conversation.listening.follow_up import asks
from memory.model.teaching import EmojiMap, emoji_spellings

CHECKS = frozenset(
    {"white_check_mark", "heavy_check_mark", "ballot_box_with_check", "check", "✅", "✔", "☑"}
)  # fmt: skip
"""Emoji that say that something is settled, as `memory.model.teaching` spells them."""
_SHORTEST = 3
"""Letters and digits of an answer: less is "ok"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of an export."""

    id: str
    author: str
    text: str
    reactions: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Who reacted, by emoji."""
    is_pinned: bool = False
    is_bot: bool = False
    reply_to: str = ""
    """The id of the message that it replies to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedAnswer:
    """A question with the answer that people marked."""

    question: Message
    answers: tuple[Message, ...]
    """One message, or several in a row of one author that are marked alike."""
    mark: str

    @property
    def answer(self) -> str:
        """What was answered."""
        return "\n\n".join(each.text.strip() for each in self.answers)

    def entry(self, place: SourceChannel, *, day: str, key: str) -> SourceEntry:
        """What is learned of it. `key` names the conversation."""
        first = self.answers[0]
        return SourceEntry(
            position=f"{place.name} {day}".strip(),
            question=self.question.text,
            answer=self.answer,
            key=f"{key}/{self.question.id}/{first.id}",
            mark=self.mark,
            place=place,
            author=first.author,
            asker=self.question.author,
        )


_CHECK, _WORDS, _PIN, _THUMB = "✅ by who asked", "accepted in words", "pinned", "👍 by who asked"
_STRENGTHS = (_CHECK, _WORDS, _PIN, _THUMB)
"""Marks, the surest first."""


def answered(thread: Sequence[Message], emoji: EmojiMap, left_out: Counter[str]) -> MarkedAnswer | None:
    """The answer to the first message of a thread. None, counted by its reason, where there is none to take."""
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
    if best in (_PIN, _THUMB) and not asks(question.text):
        left_out["marked replies to what is no question"] += 1
        return None
    taken = [each for each in replies if marks.get(each.id) == best]
    last = taken[-1].author
    alike = tuple(each for each in taken if each.author == last)
    return MarkedAnswer(question=question, answers=alike, mark=best)


def reply_chains(messages: Sequence[Message]) -> list[list[Message]]:
    """The conversations that replies make, each behind the message that it began with, in order."""
    begun: dict[str, list[Message]] = {}
    root_of: dict[str, str] = {}
    for each in messages:
        root = root_of.get(each.reply_to, "") if each.reply_to else ""
        root_of[each.id] = root or each.id
        begun.setdefault(root or each.id, []).append(each)
    return [chain for chain in begun.values() if len(chain) > 1]


def _mark(question: Message, reply: Message, emoji: EmojiMap) -> str:
    """How this reply is marked, the surest way; empty where it is not, or is no answer."""
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
    """The reply before the asker's thanks that say it was right."""
    before: Message | None = None
    for each in replies:
        if each.author != question.author:
            before = each
        elif before is not None and _is_answer(before):
            reading = read(each.text, question.text, before.text)
            if reading is not None and isinstance(reading.feedback, Approval):
                return {before.id: _WORDS}
    return {}


def _is_answer(reply: Message) -> bool:
    return not reply.is_bot and bool(reply.author) and sum(map(str.isalnum, reply.text)) >= _SHORTEST
