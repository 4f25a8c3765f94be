"""The answers on this screen: their numbers, people's reactions, and the bot's own marks."""

from bot.adapters.command_words import CHOOSE
from bot.adapters.terminal.commands import RefusedCommand
from bot.adapters.terminal.reactions import same_emoji
from bot.model import Choice


class AnswerList:
    """Answers by number. Numbers start at 1 in each process; the message ids behind them stay valid."""

    def __init__(self) -> None:
        self._answers: list[str] = []
        self._reactions: dict[tuple[str, str], dict[str, str]] = {}
        """Of each person on each answer, in order: the emoji as it was put on, by what makes two spellings the same."""
        self._marks: dict[tuple[str, str], bool] = {}
        self._choices: tuple[Choice, ...] = ()
        self._is_new = True
        """Whether nothing was asked or answered here yet: what was offered last is on no screen of this process."""

    def add(self, message_id: str) -> int:
        """Put an answer on the screen; its number."""
        self._is_new = False
        self._answers.append(message_id)
        return len(self._answers)

    def offer(self, choices: tuple[Choice, ...]) -> None:
        """What may be chosen by its number from now on; nothing once something else was asked."""
        self._choices = choices
        self._is_new = False

    def chosen(self, text: str) -> Choice | RefusedCommand | None:
        """The choice that a typed number picks, or what stands on it ("none" for "None of these"); else None.

        What is typed first in a process is about the last question before it, if there was one.
        """
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 3 else None
        typed = _folded(text)
        if self._is_new and (number or typed in ("none", "none of these")):
            self._is_new = False
            return Choice(label=text, command=CHOOSE, argument=f"{number}" if number else "none")
        if number is not None and self._choices:
            have = f"there is no choice {number} here; type a number from 1 to {len(self._choices)}"
            return self._choices[number - 1] if 1 <= number <= len(self._choices) else RefusedCommand(have)
        for choice in self._choices:
            label = _folded(choice.label)
            if typed and typed in (label, label.removesuffix(" of these"), _folded(choice.words)):
                return choice
        return None

    def last(self) -> str:
        """The message id of the last answer, or empty."""
        return self._answers[-1] if self._answers else ""

    def label(self, message_id: str) -> str:
        """`[2]`, or words for an answer that is not on this screen."""
        return f"[{self._answers.index(message_id) + 1}]" if message_id in self._answers else "an earlier answer"

    def find(self, number: int | None) -> str | RefusedCommand:
        """The message id of an answer by number; the last one for None."""
        if not self._answers:
            return RefusedCommand("there is no answer on this screen yet")
        if number is None:
            return self._answers[-1]
        if not 1 <= number <= len(self._answers):
            have = (
                "the only answer here is [1]"
                if len(self._answers) == 1
                else f"there are [1] to {self.label(self.last())}"
            )
            return RefusedCommand(f"there is no answer [{number}]; {have}")
        return self._answers[number - 1]

    def react(self, message_id: str, person: str, emoji: str) -> bool:
        """Add a person's emoji; False if it is there already."""
        standing = self._reactions.setdefault((message_id, person), {})
        if (same := same_emoji(emoji)) in standing:
            return False
        standing[same] = emoji
        return True

    def unreact(self, message_id: str, person: str, emoji: str) -> str | RefusedCommand:
        """Take this person's emoji off (the latest for an empty one); the emoji as it was put on."""
        standing = self._reactions.get((message_id, person), {})
        wanted = same_emoji(emoji) if emoji else next(reversed(standing), "")
        if wanted not in standing:
            what = emoji or "emoji"
            return RefusedCommand(
                f"there is no {what} by {person} on {self.label(message_id)}, so nothing to take back"
            )
        return standing.pop(wanted)

    def mark(self, message_id: str, emoji: str, present: bool) -> bool:
        """Set the bot's own mark; False if nothing changed."""
        on_screen = message_id in self._answers
        before = self._marks.get((message_id, emoji), False if on_screen else None)
        self._marks[message_id, emoji] = present
        return before is not present


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" .!")
