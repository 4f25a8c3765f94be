"""The reaction ledger for another agent: which goal and output stand behind a message that was sent (seed 004)."""

from dataclasses import dataclass
from datetime import timedelta

from memory.episodic import EpisodicMemory, NoOpEpisodicMemory
from memory.model import Episode, LedgerEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionContext:
    """What the agent was doing when it sent a message."""

    goal: str
    output: str
    sender_key: str = ""
    """`platform:sender:channel` of the person it was sent to."""


class ReactionLedger:
    """Maps sent messages to the context that produced them, for a limited time. Without a memory it does nothing."""

    def __init__(
        self, episodic: EpisodicMemory | NoOpEpisodicMemory | None, *, ttl: timedelta = timedelta(days=30)
    ) -> None:
        self._episodic = episodic if isinstance(episodic, EpisodicMemory) else None
        self._ttl = ttl

    def record(self, message_id: str, context: ReactionContext, *, channel: str = "") -> None:
        """Remember a sent message; its episode is pending until somebody reacts. The same id again replaces it.

        `channel` keeps messages apart on platforms whose message ids are unique only within a channel.
        """
        if self._episodic is None or not message_id:
            return
        memory, scope = self._episodic.memory, self._episodic.scope
        stored = self._episodic.store(Episode(goal=context.goal, output=context.output, place=context.sender_key))
        if not stored.run_id:
            return
        now = memory.clock()
        entry = LedgerEntry(
            workspace=scope.workspace,
            channel=channel or scope.channel,
            message_id=message_id,
            run_id=stored.run_id,
            part=1,
            posted_at=now,
            expires_at=now + self._ttl,
        )
        with memory.store.write() as tx:
            tx.teaching.put_ledger(entry)

    def lookup(self, message_id: str, *, channel: str = "") -> ReactionContext | None:
        """The context of a sent message, or None if there is none or it has expired."""
        if self._episodic is None:
            return None
        memory, scope = self._episodic.memory, self._episodic.scope
        with memory.store.read() as tx:
            entry = tx.teaching.ledger(scope.workspace, channel or scope.channel, message_id, memory.clock())
            nodes = tx.episodes.of_run(scope.workspace, entry.run_id) if entry else []
        if not nodes:
            return None
        return ReactionContext(goal=nodes[0].goal, output=nodes[0].output, sender_key=nodes[0].place)
