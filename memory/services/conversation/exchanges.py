"""Reading back a conversation: the questions to the bot, and its answers, before a message."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice

from memory.model import Exchange, Incoming, Progress, Recollection, Scope, Visibility, found_nothing
from memory.model.validation import require_whole
from memory.ports import Transaction
from memory.rules.audience import may_be_repeated
from memory.services.core import Core

MOST = 40
"""How many exchanges are read for one message."""


@dataclass(frozen=True, slots=True)
class Exchanges:
    """Reads conversations back from the stored messages and answers."""

    _core: Core

    def before(self, message: Incoming, *, pause: timedelta, most: int = MOST) -> tuple[Exchange, ...]:
        """The exchanges before a message, oldest first, at most about `most` (`exchanges_before`)."""
        with self._core.store.read() as tx:
            return exchanges_before(tx, message, pause=pause, most=most)

    def before_with(
        self,
        message: Incoming,
        recall: Callable[[Transaction], Recollection],
        *,
        pause: timedelta,
        refers_back: Callable[[str], bool],
    ) -> tuple[tuple[Exchange, ...], Recollection | None]:
        """`before` together with a recall (`Recalling.prepared`), in one transaction.

        There is no recall if earlier exchanges exist and the text `refers_back` to them, as its meaning depends on
        them.
        """
        with self._core.store.read() as tx:
            earlier = exchanges_before(tx, message, pause=pause)
            return earlier, None if earlier and refers_back(message.text) else recall(tx)

    def marked(self, message: Incoming, since: datetime, people: Collection[str]) -> list[Exchange]:
        """These people's latest messages after that time that nothing was found for or posted, where the message is.

        The answer of such an exchange is empty: a mark told that nothing is known.
        """
        scope, thread = message.scope, message.scope.thread if message.scope.thread != message.message_id else ""
        with self._core.store.read() as tx:
            latest_of = partial(tx.deliveries.messages_of, scope.workspace, scope.channel, limit=MOST)
            return [
                _as_marked(each, message)
                for person in people
                for each in latest_of(person)
                if since < each.at <= message.at
                and (not thread or each.scope.thread == thread)
                and each.progress is Progress.DELIVERED
                and not tx.deliveries.outgoing(scope.workspace, each.run_id)
                and found_nothing(tx.episodes.of_run(scope.workspace, each.run_id))
                and may_be_repeated(each.scope.visibility, scope.visibility)
            ]

    def asked(self, scope: Scope, message_ids: Sequence[str]) -> frozenset[str]:
        """Which of these messages in the channel were addressed to the bot, answered or not."""
        with self._core.store.read() as tx:
            known = tx.deliveries.incoming_of_message
            return frozenset(each for each in message_ids if known(scope.workspace, scope.channel, each) is not None)

    def has_answered_in(self, workspace: str, channel: str, thread: str) -> bool:
        """Whether the bot has answered in this thread, so that replies there are meant for it."""
        with self._core.store.read() as tx:
            return tx.deliveries.has_sent(workspace, channel, thread)

    def messages_of(self, scope: Scope, limit: int) -> list[Incoming]:
        """Of the newest `limit` messages of the person in this channel, those that may be repeated there now."""
        require_whole(limit, "limit")
        with self._core.store.read() as tx:
            messages = tx.deliveries.messages_of(scope.workspace, scope.channel, scope.person, limit)
        return [each for each in messages if each.text and may_be_repeated(each.scope.visibility, scope.visibility)]

    def begin_anew(self, scope: Scope, at: datetime) -> None:
        """Start a new conversation: the person's earlier messages in this channel are no longer part of it."""
        with self._core.store.write() as tx:
            tx.deliveries.begin_anew(scope.workspace, scope.person, scope.channel, at)


def _as_marked(marked: Incoming, message: Incoming) -> Exchange:
    return Exchange(
        run_id=marked.run_id,
        event_id=marked.event_id,
        person=marked.scope.person,
        message_id=marked.message_id,
        visibility=marked.scope.visibility,
        text=marked.text,
        understood=marked.understood,
        answer="",
        at=marked.at,
        answered_at=marked.at,
        is_replied_to=marked.message_id == message.reply_to,
    )


def exchanges_before(tx: Transaction, message: Incoming, *, pause: timedelta, most: int = MOST) -> tuple[Exchange, ...]:
    """The exchanges before a message, oldest first, at most about `most`.

    - In a thread: those of everybody in it, the first and the newest.
    - In a direct message: the person's own since the last pause longer than `pause`, or since they began anew.
    - In a channel without threads: what the message replies to, what that replied to, and so on; for a message that is
      no reply, the person's own there, as in a direct message.

    What it replies to may also be the bot's question about a message of the person, which is no answer: a recent one.
    Exchanges of other channels, and those that may not be repeated there now, are left out.
    """
    scope = message.scope
    chain = list(islice(_replied_to(tx, message), most))
    if scope.thread and scope.thread != message.message_id:
        found = _of_thread(tx, message, most)
    elif scope.visibility is Visibility.DIRECT or not message.reply_to:
        found = _own(tx, message, pause, most)
    else:
        found = []
    if message.reply_to and not chain:
        own = found or _own(tx, message, pause, most)
        chain = [replace(each, is_replied_to=True) for each in own if message.reply_to in each.posted]
    by_run = {each.run_id: each for each in (*found, *chain)}
    return tuple(sorted(by_run.values(), key=lambda each: (each.at, each.run_id)))


def _of_thread(tx: Transaction, message: Incoming, most: int) -> list[Exchange]:
    scope, thread = message.scope, message.scope.thread
    person = scope.person if scope.visibility is Visibility.DIRECT else ""
    newest = _read(tx, message, thread=thread, person=person, limit=most)
    # On some platforms the message that a thread began with is in the channel, not in the thread.
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
    """The exchange that a message replies to, the one that it replied to, and so on."""
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
    """The message to the bot with this id, or whose answer has this id."""
    workspace, channel = message.scope.workspace, message.scope.channel
    entry = tx.teaching.ledger(workspace, channel, message_id, message.at)
    if entry is None:
        return tx.deliveries.incoming_of_message(workspace, channel, message_id)
    return tx.deliveries.incoming_of_run(workspace, entry.run_id)


def _exchange(tx: Transaction, message: Incoming, question: Incoming | None) -> list[Exchange]:
    return _read(tx, message, run_id=question.run_id, limit=1) if question is not None and question.run_id else []


def _read(tx: Transaction, message: Incoming, *, limit: int, oldest_first: bool = False, **by: str) -> list[Exchange]:
    """The exchanges up to a message `by` thread, person or run that may be repeated where it is."""
    scope, until = message.scope, message.at
    stored = tx.deliveries.exchanges(
        scope.workspace, scope.channel, until=until, limit=limit, oldest_first=oldest_first, **by
    )
    return [
        each
        for each in stored
        if each.event_id != message.event_id and may_be_repeated(each.visibility, scope.visibility)
    ]
