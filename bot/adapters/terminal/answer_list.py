"""The answers of this process: their numbers, reactions and the bot's marks."""

from bot.adapters.command_words import CHOOSE
from bot.adapters.terminal.reactions import same_emoji
from bot.errors import CommandRefused
from bot.model import Choice


class AnswerList:
    """Answers by number, from 1 in each process; their message ids are permanent.

    Raises `CommandRefused` for a number or an emoji that is not there.
    """

    def __init__(self) -> None:
        self._answers: list[str] = []
        self._reactions: dict[tuple[str, str], dict[str, str]] = {}
        """Reactions by answer and person, in order: the typed emoji by its `same_emoji`."""
        self._marks: dict[tuple[str, str], bool] = {}
        self._choices: tuple[Choice, ...] = ()
        self._is_new = True
        """Whether nothing was asked or answered in this process yet, so that choices may be those of an earlier one."""

    def add(self, message_id: str) -> int:
        """Add an answer; returns its number."""
        self._is_new = False
        self._answers.append(message_id)
        return len(self._answers)

    def offer(self, choices: tuple[Choice, ...]) -> None:
        """Set the choices that a typed number picks."""
        self._choices = choices
        self._is_new = False

    def chosen(self, text: str) -> Choice | None:
        """The choice for a typed number or label ("none" for "None of these"); None for any other text.

        The first line in a process may choose an option of the last question before it.
        """
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 3 else None
        typed = _folded(text)
        if self._is_new and (number or typed in ("none", "none of these")):
            self._is_new = False
            return Choice(label=text, command=CHOOSE, argument=f"{number}" if number else "none")
        if number is not None and self._choices:
            if not 1 <= number <= len(self._choices):
                have = f"type a number from 1 to {len(self._choices)}"
                raise CommandRefused(f"there is no choice {number} here; {have}")
            return self._choices[number - 1]
        for choice in self._choices:
            label = _folded(choice.label)
            if typed and typed in (label, label.removesuffix(" of these"), _folded(choice.words)):
                return choice
        return None

    def last(self) -> str:
        """The message id of the last answer; empty if there is none."""
        return self._answers[-1] if self._answers else ""

    def label(self, message_id: str) -> str:
        """The label of an answer: `[2]`, or "an earlier answer" for one of another process."""
        return f"[{self._answers.index(message_id) + 1}]" if message_id in self._answers else "an earlier answer"

    def find(self, number: int | None) -> str:
        """The message id of an answer by number; the last one for None."""
        if not self._answers:
            raise CommandRefused("there is no answer on this screen yet")
        if number is None:
            return self._answers[-1]
        if not 1 <= number <= len(self._answers):
            several = f"there are [1] to {self.label(self.last())}"
            have = several if len(self._answers) > 1 else "the only answer here is [1]"
            raise CommandRefused(f"there is no answer [{number}]; {have}")
        return self._answers[number - 1]

    def react(self, message_id: str, person: str, emoji: str) -> bool:
        """Add a person's emoji; False if it was there already."""
        standing = self._reactions.setdefault((message_id, person), {})
        if (same := same_emoji(emoji)) in standing:
            return False
        standing[same] = emoji
        return True

    def unreact(self, message_id: str, person: str, emoji: str) -> str:
        """Remove a person's emoji (the latest for an empty one); returns it as it was typed."""
        standing = self._reactions.get((message_id, person), {})
        wanted = same_emoji(emoji) if emoji else next(reversed(standing), "")
        if wanted not in standing:
            on = f"by {person} on {self.label(message_id)}"
            raise CommandRefused(f"there is no {emoji or 'emoji'} {on}, so nothing to take back")
        return standing.pop(wanted)

    def mark(self, message_id: str, emoji: str, present: bool) -> bool:
        """Set the bot's own mark; False if that changes nothing."""
        on_screen = message_id in self._answers
        before = self._marks.get((message_id, emoji), False if on_screen else None)
        self._marks[message_id, emoji] = present
        return before is not present


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" .!")
