"""Edited and deleted messages: rewords or withdraws the questions that they were, and archives their answers."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.model import Episode, EventKind, Incoming, Progress, Role, Scope, Verdict, Visibility, found_nothing
from memory.model.delivery import EDITED, RETRY
from memory.ports import Transaction
from memory.rules.audience import index_entries_of, narrower
from memory.services.core import Core, record_and_index
from memory.services.settings.chat_settings import admission
from memory.services.verdicts.channels import store_visibility

ANEW_WITHIN = timedelta(days=1)
"""How long after a question that nobody could answer an edit of it is answered."""
_MOST_ANEW = 5
"""How often at most one question is answered anew."""


@dataclass(frozen=True, slots=True)
class MessageChanges:
    """The use cases of edited and deleted messages."""

    _core: Core

    def ask_anew(
        self, scope: Scope, message_id: str, text: str, *, role: Role, event_id: str, at: datetime
    ) -> Incoming | None:
        """Accept the new text of a question whose answer was not known, as a question in its place.

        The old text leaves the conversation, and its episodes are archived. None if the question has an answer, waits
        for one, was judged by anybody, is too old or was edited too often; and if its author, whose edit it must be,
        may not use the bot there any more. Raises `InvalidInput` if the text is too long.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            asked = _versions(tx, scope.workspace, scope.channel, message_id)
            if not asked or len(asked) > _MOST_ANEW or at - asked[0].at > ANEW_WITHIN or not text.strip():
                return None
            last = asked[-1]
            nodes = tx.episodes.of_run(scope.workspace, last.run_id) if last.run_id else []
            is_theirs = last.scope.person == scope.person and not last.asked_by and last.tap is None
            if (
                not is_theirs
                or last.text in ("", self._core.redactor.text(text))
                or not _is_unknown(nodes)
                or _is_unsent(tx, last)
            ):
                return None
            if not admission(self._core, tx, scope, role).is_admitted:
                return None
            self._core.require_short(text)
            store_visibility(tx, scope, now)
            _withdraw(tx, last, nodes, scope.person, now)
            again = Incoming(
                scope=replace(last.scope, visibility=scope.visibility),
                event_id=_version_id(asked[0], len(asked)),
                message_id=f"{RETRY}{event_id}",
                text=text,
                at=at,
                reply_to=message_id,
            )
            return again if tx.deliveries.accept(self._core.redactor.message(again)) else None

    def reword(
        self, workspace: str, channel: str, message_id: str, text: str, visibility: Visibility = Visibility.PUBLIC
    ) -> bool:
        """Store an edit of a question. False if it is answered, or the message is no question.

        An answered question gets the new text in the conversation, too, or none if it is too long. What is written
        while the channel is closed (`visibility`) stays there when it opens. Raises `InvalidInput` if a question that
        is not answered yet is too long.
        """
        with self._core.store.write() as tx:
            asked = _versions(tx, workspace, channel, message_id)
            if not asked or not text.strip():
                return False
            last = asked[-1]
            is_open = last.progress is Progress.ACCEPTED
            if is_open:
                self._core.require_short(text)
            kept = self._core.redactor.text(text) if len(text) <= self._core.message_characters else ""
            tx.deliveries.reword(workspace, last.event_id, kept, narrower(last.scope.visibility, visibility))
            return is_open

    def retract(self, workspace: str, channel: str, message_id: str, *, actor: str) -> bool:
        """Handle a deleted message. False if it was no question; the text of a part of an answer is erased then.

        A question is withdrawn, its text is erased, and its pending episodes are archived. Lessons that people approved
        or rejected stay, as the votes are about the answer.
        """
        now = self._core.clock()
        with self._core.store.write() as tx:
            asked = _versions(tx, workspace, channel, message_id)
            if not asked:
                _erase_part(tx, workspace, channel, message_id, now)
            for each in asked:
                tx.deliveries.advance(workspace, each.event_id, Progress.ACCEPTED, Progress.WITHDRAWN)
                nodes = tx.episodes.of_run(workspace, each.run_id) if each.run_id else []
                _withdraw(tx, each, nodes, actor, now)
            return bool(asked)


def _versions(tx: Transaction, workspace: str, channel: str, message_id: str) -> list[Incoming]:
    """The question that a message is, and what it was edited to after it could not be answered, oldest first."""
    first = tx.deliveries.incoming_of_message(workspace, channel, message_id)
    found = [first] if first is not None else []
    while first is not None and (later := tx.deliveries.incoming(workspace, _version_id(first, len(found)))):
        found.append(later)
    return found


def _version_id(first: Incoming, number: int) -> str:
    return f"{first.event_id}{EDITED}{number}"


def _is_unknown(nodes: list[Episode]) -> bool:
    """Whether a run found no answer, and nobody has judged that."""
    return found_nothing(nodes) and not any(index_entries_of(each) or each.archived_at for each in nodes)


def _is_unsent(tx: Transaction, message: Incoming) -> bool:
    parts = tx.deliveries.outgoing(message.scope.workspace, message.run_id)
    return message.progress is Progress.ACCEPTED or any(part.sent_at is None for part in parts)


def _withdraw(tx: Transaction, message: Incoming, nodes: list[Episode], actor: str, now: datetime) -> None:
    """Take a question out of the conversation, and its undecided episodes out of use, also as others' proposals."""
    tx.deliveries.reword(message.scope.workspace, message.event_id, "")
    for node in nodes:
        if node.verdict is Verdict.PENDING and node.archived_at is None:
            record_and_index(tx, node, EventKind.ARCHIVED, actor, now)


def _erase_part(tx: Transaction, workspace: str, channel: str, message_id: str, now: datetime) -> None:
    """Erase the text of a deleted part of an answer."""
    entry = tx.teaching.ledger(workspace, channel, message_id, now)
    parts = tx.deliveries.outgoing(workspace, entry.run_id) if entry else []
    tx.deliveries.put_outgoing(*(replace(each, text="") for each in parts if each.message_id == message_id))
