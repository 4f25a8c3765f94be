"""The people whose words a lesson has: authors of messages, answers or lessons that it was made from."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from memory.model import Episode, Scope
from memory.model.saved_messages import FilledFrom
from memory.ports import Transaction
from memory.rules.quotes import repeats
from memory.services.conversation.word_authors import people_quoted
from memory.services.core import ANSWER_BY, answer_authors, people_in
from memory.services.teaching.correct import Draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The people whose words a lesson has, besides its author."""

    of_question: frozenset[str] = frozenset()
    of_answer: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, tx: Transaction, scope: Scope, draft: Draft, filled_from: Iterable[FilledFrom], now: datetime
    ) -> "Sources":
        """The people behind what a form was filled in with.

        Who changed a text is taken to have kept words of it, unless they moved it to the other field.
        """
        found = cls()
        for each in filled_from:
            text = each.text or f"{draft.question}\n{draft.answer}"
            people = {each.person} if each.person else _behind(tx, scope, each.message_id, text, now)
            in_question = bool(each.text) and repeats(draft.question, each.text)
            in_answer = bool(each.text) and repeats(draft.answer, each.text)
            is_moved = in_question if each.is_answer else in_answer
            found = cls(
                of_question=found.of_question | (people if in_question or not (each.is_answer or is_moved) else set()),
                of_answer=found.of_answer | (people if in_answer or (each.is_answer and not is_moved) else set()),
            )
        return found

    def instead_of(self, tx: Transaction, former: Episode, answer: str) -> "Sources":
        """The people also behind a lesson whose place it takes, with the same question or a similar one."""
        is_reworded = repeats(answer, former.output)
        of_answer = answer_authors(tx, former) | ({former.author} if is_reworded else set())
        return Sources(of_question=self.of_question | people_in(tx, former), of_answer=self.of_answer | of_answer)

    @property
    def people(self) -> frozenset[str]:
        """Everybody whose words the lesson has, besides its author."""
        return self.of_question | self.of_answer

    @property
    def detail(self) -> dict[str, object]:
        """Whose words the answer has, for the event that makes the lesson."""
        return {ANSWER_BY: sorted(self.of_answer)} if self.of_answer else {}


def _behind(tx: Transaction, scope: Scope, message_id: str, text: str, now: datetime) -> set[str]:
    """The people whose words are in this text of a message of the bot, as far as it is an answer that is known."""
    entry = tx.teaching.ledger(scope.workspace, scope.channel, message_id, now)
    return people_quoted(tx, scope.workspace, entry.run_id, text) if entry is not None else set()
