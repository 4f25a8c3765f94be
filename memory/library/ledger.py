"""The reaction ledger for another agent, which maps sent messages to their goal and output.

And a store of values that expire (the seed's `short_memories`), for an agent's own short-lived state. Entries made in
a direct message or a private channel are found only there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import quote

from memory.errors import Conflict
from memory.library.episodic import EpisodicMemory, NoOpEpisodicMemory, keep_for_a_while
from memory.library.visibility import may_be_shown, place_json
from memory.model import Audience, Episode, LedgerEntry, Scope
from memory.model.validation import require_instance, require_json, require_lifetime, require_mapping, require_text
from memory.ports import Transaction
from memory.rules.audience import is_here, is_personal, may_read, partition_of, partitions_for
from memory.services.verdicts.verdicts import write_votes


@dataclass(frozen=True, slots=True)
class ReactionContext:
    """The goal and output behind a sent message. Fields may be positional, in the seed's order."""

    goal: str
    output: str
    sender_key: str = ""
    """`platform:sender:channel` of the recipient."""

    def __post_init__(self) -> None:
        for name in ("goal", "output", "sender_key"):
            require_text(getattr(self, name), name)


class ShortMemoryStore:
    """A store of one person's values that expire, by kind and key. Without a memory it stores nothing.

    A value that was set in a direct message or a private channel is found only there. One that was set in a public
    channel is found everywhere but in shared channels, and only in its channel while that is not public. Values that
    are not found here stay stored.
    """

    def __init__(self, episodic: EpisodicMemory | NoOpEpisodicMemory | None) -> None:
        self.episodic = _memory(episodic)

    def set(self, kind: str, key: str, value: Mapping[str, object], *, ttl: timedelta) -> None:
        """Store a JSON object for this long; the same kind and key replace it and its end.

        Raises `InvalidInput` (a `ValueError`) for a `ttl` that is not positive, and a value that is no JSON object.
        """
        require_lifetime(ttl, "ttl")
        require_text(kind, "kind")
        require_text(key, "key")
        require_json(require_mapping(value, "value"), "value")
        if self.episodic is None:
            return
        scope = self.episodic.scope
        kept = {"said_in": place_json(scope), "value": value}
        with self.episodic.memory.store.write() as tx:
            keep_for_a_while(tx, self.episodic, kind, keys_here(scope, key)[0], kept, ttl)

    def get(self, kind: str, key: str) -> Mapping[str, object] | None:
        """The value; None if there is none or it has expired. One that was set here has priority over a public one."""
        require_text(kind, "kind")
        require_text(key, "key")
        if self.episodic is None:
            return None
        with self.episodic.memory.store.read() as tx:
            return next(iter(self._found(tx, self.episodic, kind, key).values()), None)

    def delete(self, kind: str, key: str) -> bool:
        """Delete the values that `get` can find, here and public ones. Whether there were any."""
        require_text(kind, "kind")
        require_text(key, "key")
        if self.episodic is None:
            return False
        with self.episodic.memory.store.write() as tx:
            found = self._found(tx, self.episodic, kind, key)
            for each in found:
                tx.short.delete(self.episodic.scope.workspace, kind, each)
        return bool(found)

    def _found(self, tx: Transaction, episodic: EpisodicMemory, kind: str, key: str) -> dict[str, Mapping[str, object]]:
        """The values that may be shown here, by stored key, that of the present place first."""
        scope, now = episodic.scope, episodic.memory.clock()
        entries = {each: tx.short.get(scope.workspace, kind, each, now) for each in keys_here(scope, key)}
        values = {each: _shown_value(tx, scope, entry.value) for each, entry in entries.items() if entry is not None}
        return {each: value for each, value in values.items() if value is not None}

    def cleanup(self) -> int:
        """Delete all expired entries of all people and workspaces; returns their number."""
        if self.episodic is None:
            return 0
        with self.episodic.memory.store.write() as tx:
            return tx.short.sweep(self.episodic.memory.clock())


def _shown_value(tx: Transaction, scope: Scope, kept: Mapping[str, object]) -> Mapping[str, object] | None:
    """A stored value, if it may be shown here. One that was stored without a place counts as set here."""
    place, value = kept.get("said_in"), kept.get("value")
    if kept.keys() != {"said_in", "value"} or not isinstance(place, Mapping) or not isinstance(value, Mapping):
        return kept
    return value if may_be_shown(tx, scope, place) else None


def keys_here(scope: Scope, key: str) -> list[str]:
    """The stored keys of a person's value, that of the present place first. They are different for each person."""
    own = [name for name in partitions_for(scope) if is_personal(name, scope.person)]
    escaped = key.replace("%", "%25").replace("/", "%2F")
    return [f"{name}/{escaped}" for name in own]


class ReactionLedger:
    """Maps sent messages to their context for a limited time. Without a memory it does nothing."""

    def __init__(
        self,
        store: EpisodicMemory | NoOpEpisodicMemory | ShortMemoryStore | None,
        *,
        ttl: timedelta = timedelta(days=30),
    ) -> None:
        """Raises `InvalidInput` (a `ValueError`) for a `ttl` that is not positive."""
        self._episodic = store.episodic if isinstance(store, ShortMemoryStore) else _memory(store)
        self._ttl = require_lifetime(ttl, "ttl")

    def record(self, message_id: str, context: ReactionContext, *, channel: str = "", run_id: str = "") -> None:
        """Store a sent message; its episode is pending until somebody reacts. Until then the same id replaces it.

        All messages may be recorded, also parts of long ones. `channel` is needed on platforms whose message ids are
        unique only within a channel. Secrets are redacted. Recording the same message with the same context only
        renews its time. An entry with this id by another person, or of this person elsewhere, is not replaced: then the
        new entry is found only by this person here. `run_id` names a stored run of this person that the message belongs
        to. Raises `Conflict` if there is no such run or it is another person's, and for another context or run once
        there were reactions on the message: they are about the first.
        """
        require_text(message_id, "message_id")
        require_text(channel, "channel")
        require_instance(ReactionContext, context, "context")
        if self._episodic is None or not message_id:
            return
        memory, scope = self._episodic.memory, self._episodic.scope
        clean = memory.core.redactor.text
        kept = ReactionContext(clean(context.goal), clean(context.output), context.sender_key)
        now = memory.clock()
        if run_id:
            self._episodic.require_own_run(run_id)
        with memory.store.read() as tx:
            _, known = _claimed(tx, scope, channel, message_id, kept, run_id, now)
        if not known and not kept.goal.strip():
            return
        answer = Episode(goal=kept.goal, output=kept.output, place=kept.sender_key)
        new = None if known else self._episodic.prepared(answer)
        with memory.store.write() as tx:
            # Once more, as the message may have been recorded, reacted to or forgotten meanwhile.
            place, known = _claimed(tx, scope, channel, message_id, kept, run_id, now)
            if not known and new is not None:
                known = self._episodic.keep(tx, new).run_id
            if not known:
                return
            tx.teaching.put_ledger(
                LedgerEntry(
                    workspace=scope.workspace,
                    channel=place,
                    message_id=message_id,
                    run_id=known,
                    part=1,
                    posted_at=now,
                    expires_at=now + self._ttl,
                )
            )
            early = tx.teaching.unclaimed_reactions(scope.workspace, place, message_id)
            if early:
                write_votes(memory.core, tx, now, *(replace(each, run_id=known) for each in early))

    def lookup(self, message_id: str, *, channel: str = "") -> ReactionContext | None:
        """The context of a sent message, or None.

        There is none if it has expired, its episode was erased, or its conversation may not be read from here.
        """
        require_text(message_id, "message_id")
        require_text(channel, "channel")
        root = self._root(message_id, channel)
        return None if root is None else _context_of(root)

    def _root(self, message_id: str, channel: str) -> Episode | None:
        """The root episode of a message. Only it has the texts, so that erasing it erases them."""
        if self._episodic is None:
            return None
        with self._episodic.memory.store.read() as tx:
            found = posted_answer(tx, self._episodic.scope, channel, message_id, self._episodic.memory.clock())
        return None if found is None else found[1]


def _context_of(root: Episode) -> ReactionContext:
    return ReactionContext(goal=root.goal, output=root.output, sender_key=root.place)


def posted_answer(
    tx: Transaction, scope: Scope, channel: str, message_id: str, now: datetime
) -> tuple[str, Episode] | None:
    """The ledger's channel of a message, and the first node of its answer; None if that may not be read from here."""
    for place in _addresses(scope, channel):
        entry = tx.teaching.ledger(scope.workspace, place, message_id, now)
        nodes = tx.episodes.of_run(scope.workspace, entry.run_id) if entry else []
        if nodes and may_read(scope, nodes[0]):
            return place, nodes[0]
    return None


def _claimed(
    tx: Transaction, scope: Scope, channel: str, message_id: str, context: ReactionContext, run_id: str, now: datetime
) -> tuple[str, str]:
    """The ledger's channel for a message, and its run: `run_id` if given, else empty if it was not recorded yet.

    Raises `Conflict` if people reacted to the message as another answer.
    """
    place = _free_place(tx, scope, channel, message_id, now)
    run_id = run_id or _run_with(tx, scope, channel, place, message_id, context, now)
    _require_unclaimed(tx, scope, place, message_id, run_id)
    return place, run_id


def _run_with(
    tx: Transaction, scope: Scope, channel: str, place: str, message_id: str, context: ReactionContext, now: datetime
) -> str:
    """The run that this person recorded for the message with this context; empty if none is known."""
    found = posted_answer(tx, scope, channel, message_id, now)
    roots = [found[1]] if found is not None else []
    for run_id in tx.teaching.runs_reacted_to(scope.workspace, place, message_id):  # also if the entry has expired
        roots += tx.episodes.of_run(scope.workspace, run_id)[:1]
    same = (each.run_id for each in roots if each.person == scope.person and _context_of(each) == context)
    return next(same, "")


def _free_place(tx: Transaction, scope: Scope, channel: str, message_id: str, now: datetime) -> str:
    """The ledger's channel for a new entry: the message's, or this person's own if that has another's answer."""
    own, shared = _addresses(scope, channel)
    entry = tx.teaching.ledger(scope.workspace, shared, message_id, now)
    runs = tx.teaching.runs_reacted_to(scope.workspace, shared, message_id) | ({entry.run_id} if entry else set())
    roots = [root for run_id in runs for root in tx.episodes.of_run(scope.workspace, run_id)[:1]]
    is_free = all(root.person == scope.person and is_here(scope, root) for root in roots)
    return shared if is_free else own


def _require_unclaimed(tx: Transaction, scope: Scope, place: str, message_id: str, run_id: str) -> None:
    """Raises `Conflict` if reactions on the message are about another run, which would lose them."""
    if tx.teaching.runs_reacted_to(scope.workspace, place, message_id) - {run_id}:
        raise Conflict(f"there are reactions on message {message_id} already; record the other answer with another id")


def _addresses(scope: Scope, channel: str) -> tuple[str, str]:
    """The ledger's channels that may have a message: this person's own one, and the message's channel."""
    wanted = channel or scope.channel
    return f"{partition_of(scope, Audience.PERSONAL)}/{quote(wanted, safe='')}", wanted


def _memory(given: EpisodicMemory | NoOpEpisodicMemory | None) -> EpisodicMemory | None:
    """The given memory; None for one that stores nothing. Raises `InvalidInput` for other types."""
    if given is None or isinstance(given, NoOpEpisodicMemory):
        return None
    return require_instance(EpisodicMemory, given, "the memory")
