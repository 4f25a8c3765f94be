"""Handles emoji reactions to sent messages, for another agent."""

from memory.library.episodic import EpisodicMemory, NoOpEpisodicMemory
from memory.library.ledger import ReactionLedger, posted_answer
from memory.model import Episode, Reaction, Role
from memory.model.teaching import EmojiMap
from memory.model.validation import require_bool, require_instance, require_member, require_text

AGENT_EMOJI = EmojiMap(
    success=(
        "👍", "+1", "thumbsup", "❤", "heart", "🔥", "fire", "👏", "clap", "🎉", "tada", "💯", "100",
        "✅", "white_check_mark", "✔", "heavy_check_mark",
    ),
    failure=("👎", "-1", "thumbsdown", "❌", "x"),
)  # fmt: skip
"""The default meanings of emoji: those of the seed's system, and the bot's own."""


class ReactionHandler:
    """Grades the pending episode behind a message: 👍 makes it a success, 👎 a failure.

    Without a ledger or a memory it does nothing. A repeated reaction counts once; withdrawing it undoes it.
    """

    def __init__(
        self,
        ledger: ReactionLedger | None,
        episodic: EpisodicMemory | NoOpEpisodicMemory | None,
        *,
        emoji: EmojiMap = AGENT_EMOJI,
    ) -> None:
        self._ledger = None if ledger is None else require_instance(ReactionLedger, ledger, "the ledger of a handler")
        if episodic is not None and not isinstance(episodic, NoOpEpisodicMemory):
            require_instance(EpisodicMemory, episodic, "the memory of a handler")
        self._episodic = episodic if isinstance(episodic, EpisodicMemory) else None
        self._emoji = require_instance(EmojiMap, emoji, "the emoji of a handler")

    def handle_reaction(
        self,
        message_id: str,
        emoji: str,
        *,
        actor: str = "",
        channel: str = "",
        added: bool = True,
        event_id: str = "",
        role: Role = Role.MEMBER,
    ) -> Episode | None:
        """Apply a reaction; returns the changed episode, or None if nothing changed.

        `actor` is the person who reacts, by default the memory's own user, with their `role`; a bot's reactions do not
        count. Unknown emoji, unknown or expired messages, repeated events, and messages of conversations that may not
        be read from here change nothing. Raises `InvalidInput` for ids and emoji that are no texts, and unknown roles.
        """
        named = {"message_id": message_id, "emoji": emoji, "actor": actor, "channel": channel, "event_id": event_id}
        for name, given in named.items():
            require_text(given, name)
        require_bool(added, "added")
        role = require_member(Role, role, "role")
        value = self._emoji.value(emoji)
        if self._ledger is None or self._episodic is None or value is None:
            return None
        memory, scope = self._episodic.memory, self._episodic.scope
        with memory.store.read() as tx:
            found = posted_answer(tx, scope, channel, message_id, memory.clock())
        if found is None:
            return None
        result = memory.teaching.react(
            Reaction(
                workspace=scope.workspace,
                channel=found[0],
                message_id=message_id,
                actor=actor or scope.person,
                source=f"emoji:{emoji}",
                value=value,
                at=memory.clock(),
                role=role,
                is_active=added,
            ),
            event_id=event_id or memory.new_id(),
            on_own_message=False,
        )
        if not result.changed or result.root is None:
            return None
        return memory.recalling.as_seen_by(scope, [result.root])[0]
