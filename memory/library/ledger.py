"""The reaction ledger for another agent: which goal and output stand behind a message that was sent.

Beside it is a generic table of values that expire (the seed's `short_memories`), for an agent's own short-lived state.
Both are read only from where what was said may be read: what is kept in a direct message or in a
private channel is not there for anybody who asks from elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote

from memory.library.episodic import EpisodicMemory, NoOpEpisodicMemory, keep_for_a_while
from memory.library.visibility import may_be_shown, place_json
from memory.model import Audience, Episode, LedgerEntry, Scope
from memory.model.validation import json_value, lifetime, mapping, one_of, text
from memory.ports import Transaction
from memory.rules.audience import is_here, is_personal, may_read, partition_of, partitions_for


@dataclass(frozen=True, slots=True)
class ReactionContext:
    """What the agent was doing when it sent a message. The fields may be given by position, in the seed's order."""

    goal: str
    output: str
    sender_key: str = ""
    """`platform:sender:channel` of the person it was sent to."""

    def __post_init__(self) -> None:
        for name in ("goal", "output", "sender_key"):
            text(getattr(self, name), name)


class ShortMemoryStore:
    """Values of one person that expire, by kind and key. Without a memory it keeps nothing.

    A value that was set in a direct message or in a private channel is found only there; one that was set in public is
    found wherever the person is, but where people of other organisations read, and only in its channel while others
    than everybody read that. A value that is not found here is kept, until it is set anew.
    """

    def __init__(self, episodic: EpisodicMemory | NoOpEpisodicMemory | None) -> None:
        self.episodic = _memory(episodic)

    def set(self, kind: str, key: str, value: Mapping[str, object], *, ttl: timedelta) -> None:
        """Keep a value of JSON for this long; the same kind and key again replaces it and begins anew.

        Raises `InvalidInput` (a `ValueError`) for a time that is not positive, and for what is no JSON object.
        """
        lifetime(ttl, "ttl")
        text(kind, "kind")
        text(key, "key")
        json_value(mapping(value, "value"), "value")
        if self.episodic is None:
            return
        scope = self.episodic.scope
        kept = {"said_in": place_json(scope), "value": value}
        with self.episodic.memory.store.write() as tx:
            keep_for_a_while(tx, self.episodic, kind, keys_here(scope, key)[0], kept, ttl)

    def get(self, kind: str, key: str) -> Mapping[str, object] | None:
        """The value, or None if there is none or it has expired. What was set here comes before what is public."""
        text(kind, "kind")
        text(key, "key")
        if self.episodic is None:
            return None
        with self.episodic.memory.store.read() as tx:
            return next(iter(self._found(tx, self.episodic, kind, key).values()), None)

    def delete(self, kind: str, key: str) -> bool:
        """Remove what `get` would find, here and in public; whether there was any."""
        text(kind, "kind")
        text(key, "key")
        if self.episodic is None:
            return False
        with self.episodic.memory.store.write() as tx:
            found = self._found(tx, self.episodic, kind, key)
            for each in found:
                tx.short.delete(self.episodic.scope.workspace, kind, each)
        return bool(found)

    def _found(self, tx: Transaction, episodic: EpisodicMemory, kind: str, key: str) -> dict[str, Mapping[str, object]]:
        """The values that may be shown here by their stored key, that of the present place first."""
        scope, now = episodic.scope, episodic.memory.clock()
        entries = {each: tx.short.get(scope.workspace, kind, each, now) for each in keys_here(scope, key)}
        values = {each: _shown_value(tx, scope, entry.value) for each, entry in entries.items() if entry is not None}
        return {each: value for each, value in values.items() if value is not None}

    def cleanup(self) -> int:
        """Delete everything in the database that has expired, and nothing else; returns how many.

        Of every person and workspace: nobody can read it any more.
        """
        if self.episodic is None:
            return 0
        with self.episodic.memory.store.write() as tx:
            return tx.short.sweep(self.episodic.memory.clock())


def _shown_value(tx: Transaction, scope: Scope, kept: Mapping[str, object]) -> Mapping[str, object] | None:
    """A stored value, if it may be shown here. One that is kept without its place counts as set here."""
    place, value = kept.get("said_in"), kept.get("value")
    if kept.keys() != {"said_in", "value"} or not isinstance(place, Mapping) or not isinstance(value, Mapping):
        return kept
    return value if may_be_shown(tx, scope, place) else None


def keys_here(scope: Scope, key: str) -> list[str]:
    """The stored keys of a person's value, that of the present place first. Keys of two people never meet."""
    own = [name for name in partitions_for(scope) if is_personal(name, scope.person)]
    escaped = key.replace("%", "%25").replace("/", "%2F")
    return [f"{name}/{escaped}" for name in own]


class ReactionLedger:
    """Maps sent messages to the context that produced them, for a limited time. Without a memory it does nothing."""

    def __init__(
        self,
        store: EpisodicMemory | NoOpEpisodicMemory | ShortMemoryStore | None,
        *,
        ttl: timedelta = timedelta(days=30),
    ) -> None:
        """Raises `InvalidInput` (a `ValueError`) for a time that is not positive."""
        self._episodic = store.episodic if isinstance(store, ShortMemoryStore) else _memory(store)
        self._ttl = lifetime(ttl, "ttl")

    def record(self, message_id: str, context: ReactionContext, *, channel: str = "", run_id: str = "") -> None:
        """Remember a sent message; its episode is pending until somebody reacts. The same id again replaces it.

        Every message may be recorded, however short, and every part of a long one. `channel` keeps messages apart on
        platforms whose message ids are unique only within a channel. Secrets are taken out. Recording the same message
        with the same context again only begins its time anew. What somebody else recorded under this id, or this person
        elsewhere, stays theirs: then the message is found by this person here alone. With `run_id` it is the message of
        a run that this person has stored. Raises `Conflict` if that is another's.
        """
        text(message_id, "message_id")
        text(channel, "channel")
        one_of(ReactionContext, context, "context")
        if self._episodic is None or not message_id:
            return
        memory, scope = self._episodic.memory, self._episodic.scope
        clean = memory.core.redactor.text
        kept = ReactionContext(clean(context.goal), clean(context.output), context.sender_key)
        known = self._root(message_id, channel)
        if run_id:
            self._episodic.require_own_run(run_id)
        elif known is not None and known.person == scope.person and _context_of(known) == kept:
            run_id = known.run_id
        else:
            run_id = self._episodic.store(Episode(goal=kept.goal, output=kept.output, place=kept.sender_key)).run_id
        if not run_id:
            return
        now = memory.clock()
        with memory.store.write() as tx:
            place = _free_place(tx, scope, channel, message_id, now)
            tx.teaching.put_ledger(
                LedgerEntry(
                    workspace=scope.workspace,
                    channel=place,
                    message_id=message_id,
                    run_id=run_id,
                    part=1,
                    posted_at=now,
                    expires_at=now + self._ttl,
                )
            )

    def lookup(self, message_id: str, *, channel: str = "") -> ReactionContext | None:
        """The context of a sent message, or None if there is none, it has expired, or its episode was erased.

        None as well for a message of a conversation that may not be read from here.
        """
        text(message_id, "message_id")
        text(channel, "channel")
        root = self._root(message_id, channel)
        return None if root is None else _context_of(root)

    def _root(self, message_id: str, channel: str) -> Episode | None:
        """The episode behind a message, which has its texts: what is erased there is nowhere else."""
        if self._episodic is None:
            return None
        with self._episodic.memory.store.read() as tx:
            found = posted(tx, self._episodic.scope, channel, message_id, self._episodic.memory.clock())
        return None if found is None else found[1]


def _context_of(root: Episode) -> ReactionContext:
    return ReactionContext(goal=root.goal, output=root.output, sender_key=root.place)


def posted(tx: Transaction, scope: Scope, channel: str, message_id: str, now: datetime) -> tuple[str, Episode] | None:
    """Where the ledger has a message, and the first node of its answer, if that may be read from here."""
    for place in _addresses(scope, channel):
        entry = tx.teaching.ledger(scope.workspace, place, message_id, now)
        nodes = tx.episodes.of_run(scope.workspace, entry.run_id) if entry else []
        if nodes and may_read(scope, nodes[0]):
            return place, nodes[0]
    return None


def _free_place(tx: Transaction, scope: Scope, channel: str, message_id: str, now: datetime) -> str:
    """Where this person may record a message without replacing anybody's: its channel, else their own place in it."""
    own, shared = _addresses(scope, channel)
    entry = tx.teaching.ledger(scope.workspace, shared, message_id, now)
    nodes = tx.episodes.of_run(scope.workspace, entry.run_id) if entry else []
    is_free = not nodes or (nodes[0].person == scope.person and is_here(scope, nodes[0]))
    return shared if is_free else own


def _addresses(scope: Scope, channel: str) -> tuple[str, str]:
    """Where a message may be in the ledger: the person's own place in its channel, and the channel."""
    wanted = channel or scope.channel
    return f"{partition_of(scope, Audience.PERSONAL)}/{quote(wanted, safe='')}", wanted


def _memory(given: EpisodicMemory | NoOpEpisodicMemory | None) -> EpisodicMemory | None:
    """The memory behind a door; None for one that keeps nothing. Raises `InvalidInput` for anything else."""
    if given is None or isinstance(given, NoOpEpisodicMemory):
        return None
    return one_of(EpisodicMemory, given, "the memory")
