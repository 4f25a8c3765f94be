"""The reaction ledger for another agent: which goal and output stand behind a message that was sent (seed 004).

Behind it is a generic table of values that expire (the seed's `short_memories`), which an agent may use for its own
short-lived state too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import quote

from memory.episodic import EpisodicMemory, NoOpEpisodicMemory
from memory.model import Episode, LedgerEntry, ShortMemory

LEDGER_KIND = "reaction_ledger"


@dataclass(frozen=True, slots=True)
class ReactionContext:
    """What the agent was doing when it sent a message. The fields may be given by position, in the seed's order."""

    goal: str
    output: str
    sender_key: str = ""
    """`platform:sender:channel` of the person it was sent to."""


class ShortMemoryStore:
    """Values of one person that expire, by kind and key. Without a memory it keeps nothing."""

    def __init__(self, episodic: EpisodicMemory | NoOpEpisodicMemory | None) -> None:
        self.episodic = episodic if isinstance(episodic, EpisodicMemory) else None

    def set(self, kind: str, key: str, value: Mapping[str, object], *, ttl: timedelta) -> None:
        """Keep a value of JSON for this long; the same kind and key again replaces it and begins anew.

        Raises `ValueError` for a time that is not positive.
        """
        if ttl <= timedelta(0):
            raise ValueError(f"a value is kept for a time above zero, got {ttl}")
        if self.episodic is None:
            return
        memory, scope = self.episodic.memory, self.episodic.scope
        now = memory.clock()
        entry = ShortMemory(
            workspace=scope.workspace,
            kind=kind,
            key=self._key(self.episodic, key),
            value=value,
            person=scope.person,
            created_at=now,
            expires_at=now + ttl,
        )
        with memory.store.write() as tx:
            tx.short.put(entry)

    def get(self, kind: str, key: str) -> Mapping[str, object] | None:
        """The value, or None if there is none or it has expired."""
        if self.episodic is None:
            return None
        memory, scope = self.episodic.memory, self.episodic.scope
        with memory.store.read() as tx:
            entry = tx.short.get(scope.workspace, kind, self._key(self.episodic, key), memory.clock())
        return None if entry is None else entry.value

    def delete(self, kind: str, key: str) -> bool:
        """Remove a value; whether there was one."""
        if self.episodic is None:
            return False
        with self.episodic.memory.store.write() as tx:
            return tx.short.delete(self.episodic.scope.workspace, kind, self._key(self.episodic, key))

    def cleanup(self) -> int:
        """Delete everything in the database that has expired, and nothing else; returns how many."""
        if self.episodic is None:
            return 0
        with self.episodic.memory.store.write() as tx:
            return tx.short.sweep(self.episodic.memory.clock())

    @staticmethod
    def _key(episodic: EpisodicMemory, key: str) -> str:
        """Keys of two people never meet."""
        return f"person/{quote(episodic.scope.person, safe='')}/{key}"


class ReactionLedger:
    """Maps sent messages to the context that produced them, for a limited time. Without a memory it does nothing."""

    def __init__(
        self,
        store: EpisodicMemory | NoOpEpisodicMemory | ShortMemoryStore | None,
        *,
        ttl: timedelta = timedelta(days=30),
    ) -> None:
        """Raises `ValueError` for a time that is not positive."""
        if ttl <= timedelta(0):
            raise ValueError(f"the ledger keeps messages for a time above zero, got {ttl}")
        episodic = store.episodic if isinstance(store, ShortMemoryStore) else store
        self._episodic = episodic if isinstance(episodic, EpisodicMemory) else None
        self._ttl = ttl

    def record(self, message_id: str, context: ReactionContext, *, channel: str = "") -> None:
        """Remember a sent message; its episode is pending until somebody reacts. The same id again replaces it.

        Every message may be recorded, however short, and every part of a long one. `channel` keeps messages apart on
        platforms whose message ids are unique only within a channel. Secrets are taken out. Recording the same message
        with the same context again only begins its time anew.
        """
        if self._episodic is None or not message_id:
            return
        memory, scope = self._episodic.memory, self._episodic.scope
        redactor = memory.core.redactor
        context = replace(context, goal=redactor.text(context.goal), output=redactor.text(context.output))
        run_id = self._known_run(message_id, context, channel) or self._keep(context)
        if not run_id:
            return
        now = memory.clock()
        entry = LedgerEntry(
            workspace=scope.workspace,
            channel=channel or scope.channel,
            message_id=message_id,
            run_id=run_id,
            part=1,
            posted_at=now,
            expires_at=now + self._ttl,
        )
        note = ShortMemory(
            workspace=scope.workspace,
            kind=LEDGER_KIND,
            key=_key(entry.channel, message_id),
            value={"run_id": run_id, "sender_key": context.sender_key},
            person=scope.person,
            created_at=now,
            expires_at=entry.expires_at,
        )
        with memory.store.write() as tx:
            tx.teaching.put_ledger(entry)
            tx.short.put(note)

    def _keep(self, context: ReactionContext) -> str:
        if self._episodic is None:
            return ""
        return self._episodic.store(Episode(goal=context.goal, output=context.output, place=context.sender_key)).run_id

    def _known_run(self, message_id: str, context: ReactionContext, channel: str) -> str:
        """The run of a message that was recorded with just this context."""
        found = self._find(message_id, channel)
        return found[1] if found is not None and found[0] == context else ""

    def lookup(self, message_id: str, *, channel: str = "") -> ReactionContext | None:
        """The context of a sent message, or None if there is none, it has expired, or its episode was erased."""
        found = self._find(message_id, channel)
        return None if found is None else found[0]

    def _find(self, message_id: str, channel: str) -> tuple[ReactionContext, str] | None:
        """The context and its run. The texts are the episode's: what is erased there is nowhere else."""
        if self._episodic is None:
            return None
        memory, scope = self._episodic.memory, self._episodic.scope
        key = _key(channel or scope.channel, message_id)
        with memory.store.read() as tx:
            entry = tx.short.get(scope.workspace, LEDGER_KIND, key, memory.clock())
            run_id = str(entry.value["run_id"]) if entry is not None else ""
            nodes = tx.episodes.of_run(scope.workspace, run_id) if run_id else []
        if entry is None or not nodes:
            return None
        sender = str(entry.value["sender_key"])
        return ReactionContext(goal=nodes[0].goal, output=nodes[0].output, sender_key=sender), run_id


def _key(channel: str, message_id: str) -> str:
    """Message ids are unique within a channel, on some platforms only there."""
    return f"{quote(channel, safe='')}/{quote(message_id, safe='')}"
