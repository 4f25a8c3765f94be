"""A person's earlier messages in the same conversation, for the agent's search tool."""

from datetime import datetime

from bot.conversation.executor import Executor
from memory.model import Scope
from memory.services import Memory


class MessageHistory:
    """A person's own earlier messages in one channel, without other people's and the bot's."""

    def __init__(self, memory: Memory, executor: Executor) -> None:
        self._memory = memory
        self._executor = executor

    async def messages(self, scope: Scope, limit: int) -> list[tuple[datetime, str]]:
        """The newest `limit` messages with their times, newest first."""
        messages = await self._executor(self._memory.recording.messages_of, scope, limit)
        return [(message.at, message.text) for message in messages]
