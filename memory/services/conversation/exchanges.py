"""What was said before a message in its conversation: to the bot, and by it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from memory.model import Exchange, Incoming, Recollection, Scope, Visibility
from memory.ports import Transaction
from memory.rules.audience import stays
from memory.services.core import Core

MOST = 40
"""How many exchanges are read for one message."""


@dataclass(frozen=True, slots=True)
class Exchanges:
    """Reads conversations back. Nothing is stored for them but the messages and answers themselves."""

    _core: Core

    def before(self, message: Incoming, *, pause: timedelta, most: int = MOST) -> tuple[Exchange, ...]:
        """What was said before a message, oldest first, at most about `most` (`said_before`)."""
        with self._core.store.read() as tx:
            return said_before(tx, message, pause=pause, most=most)

    def before_with(
        self,
        message: Incoming,
        recall: Callable[[Transaction], Recollection],
        *,
        pause: timedelta,
        refers_back: Callable[[str], bool],
    ) -> tuple[tuple[Exchange, ...], Recollection | None]:
        """The same with a recall (`Recalling.prepared`), in one transaction.

        Without it where something was said before that the text `refers_back` to: it may mean something else then.
        """
        with self._core.store.read() as tx:
            earlier = said_before(tx, message, pause=pause)
            return earlier, None if earlier and refers_back(message.text) else recall(tx)

    def asked(self, scope: Scope, message_ids: Sequence[str]) -> frozenset[str]:
        """Which of these messages in the channel were put to the bot, answered or not."""
        with self._core.store.read() as tx:
            known = tx.deliveries.incoming_of_message
            return frozenset(each for each in message_ids if known(scope.workspace, scope.channel, each) is not None)

    def begin_anew(self, scope: Scope, at: datetime) -> None:
        """From now on the person's earlier words in this channel are no part of their conversation there."""
        with self._core.store.write() as tx:
            tx.deliveries.begin_anew(scope.workspace, scope.person, scope.channel, at)


def said_before(tx: Transaction, message: Incoming, *, pause: timedelta, most: int = MOST) -> tuple[Exchange, ...]:
    """What was said before a message, oldest first, at most about `most`.

    In a thread what was said in it, by everybody, its first and its newest. In a direct message the person's own since
    they paused for longer than `pause`, or began anew. In a channel without threads what the message replies to, and
    what that replied to; if it replies to nothing the person's own there, as in a direct message.

    Nothing that may not be repeated there now, and nothing from another channel.
    """
    scope = message.scope
    chain = list(islice(_replied_to(tx, message), most))
    if scope.thread and scope.thread != message.message_id:
        found = _of_thread(tx, message, most)
    elif scope.visibility is Visibility.DIRECT or not message.reply_to:
        found = _own(tx, message, pause, most)
    else:
        found = []
    by_run = {each.run_id: each for each in (*found, *chain)}
    return tuple(sorted(by_run.values(), key=lambda each: (each.at, each.run_id)))


def _of_thread(tx: Transaction, message: Incoming, most: int) -> list[Exchange]:
    scope, thread = message.scope, message.scope.thread
    person = scope.person if scope.visibility is Visibility.DIRECT else ""
    newest = _read(tx, message, thread=thread, person=person, limit=most)
    # Where the platform keeps the thread apart from the message it began with, that stands in the channel.
    root = _of_message(tx, message, thread)
    is_all = len(newest) < most
    first = [] if is_all else _read(tx, message, thread=thread, person=person, limit=1, oldest_first=True)
    return [*_exchange(tx, message, root), *first, *newest]


def _own(tx: Transaction, message: Incoming, pause: timedelta, most: int) -> list[Exchange]:
    scope = message.scope
    found: list[Exchange] = []
    latest = message.at
    for each in _read(tx, message, person=scope.person, limit=most):
        if latest - each.at > pause:
            break
        latest = each.at
        found.append(each)
    return found


def _replied_to(tx: Transaction, message: Incoming) -> Iterator[Exchange]:
    """The exchange a message replies to, what that one replied to, and so on."""
    seen = {message.event_id}
    target = message.reply_to
    while target:
        question = _of_message(tx, message, target)
        if question is None or question.event_id in seen:
            return
        seen.add(question.event_id)
        for each in _exchange(tx, message, question):
            yield replace(each, is_replied_to=target == message.reply_to)
        target = question.reply_to


def _of_message(tx: Transaction, message: Incoming, message_id: str) -> Incoming | None:
    """The message to the bot that has this id, or whose answer has it."""
    workspace, channel = message.scope.workspace, message.scope.channel
    entry = tx.teaching.ledger(workspace, channel, message_id, message.at)
    if entry is None:
        return tx.deliveries.incoming_of_message(workspace, channel, message_id)
    return tx.deliveries.incoming_of_run(workspace, entry.run_id)


def _exchange(tx: Transaction, message: Incoming, question: Incoming | None) -> list[Exchange]:
    return _read(tx, message, run_id=question.run_id, limit=1) if question is not None and question.run_id else []


def _read(
    tx: Transaction,
    message: Incoming,
    *,
    thread: str = "",
    person: str = "",
    run_id: str = "",
    limit: int,
    oldest_first: bool = False,
) -> list[Exchange]:
    scope = message.scope
    stored = tx.deliveries.exchanges(
        scope.workspace,
        scope.channel,
        until=message.at,
        thread=thread,
        person=person,
        run_id=run_id,
        limit=limit,
        oldest_first=oldest_first,
    )
    return [each for each in stored if each.event_id != message.event_id and stays(each.visibility, scope.visibility)]
