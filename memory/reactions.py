"""Turns an emoji on a sent message into a validated episode, for another agent (seed 004, `ReactionHandler`)."""

from memory.emoji import EmojiMap
from memory.episodic import EpisodicMemory, NoOpEpisodicMemory
from memory.ledger import ReactionLedger
from memory.model import Episode, Reaction, Role

AGENT_EMOJI = EmojiMap(
    success=(
        "👍", "+1", "thumbsup", "❤", "heart", "🔥", "fire", "👏", "clap", "🎉", "tada", "💯", "100",
        "✅", "white_check_mark", "✔", "heavy_check_mark",
    ),
    failure=("👎", "-1", "thumbsdown", "❌", "x"),
)  # fmt: skip
"""What emoji are worth unless another map is given: those the seed's system took, and the bot's own."""


class ReactionHandler:
    """Gives the agent its cookie: 👍 makes the pending episode behind a message a success, 👎 a failure.

    Without a ledger or a memory it does nothing. The same reaction twice is one; taking it back undoes it.
    """

    def __init__(
        self,
        ledger: ReactionLedger | None,
        episodic: EpisodicMemory | NoOpEpisodicMemory | None,
        *,
        emoji: EmojiMap = AGENT_EMOJI,
    ) -> None:
        self._ledger = ledger
        self._episodic = episodic if isinstance(episodic, EpisodicMemory) else None
        self._emoji = emoji

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
        """Take in a reaction; returns the episode as it is now, or None if nothing came of it.

        `actor` is the reacting person; empty means the memory's own user. Their `role` says what their word counts
        for; a bot's never counts. Unknown emoji, unknown or expired messages and repeated events change nothing.
        """
        value = self._emoji.value(emoji)
        if self._ledger is None or self._episodic is None or value is None:
            return None
        memory, scope = self._episodic.memory, self._episodic.scope
        taught = memory.teaching.react(
            Reaction(
                workspace=scope.workspace,
                channel=channel or scope.channel,
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
        return taught.root if taught.changed else None
