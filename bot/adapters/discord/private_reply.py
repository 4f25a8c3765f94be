"""The private replies of Discord: an answer only one person sees, their direct messages, or a plain reply."""

from collections.abc import Sequence
from typing import Protocol

from bot.adapters.private_reply import PrivateReplies
from bot.model import Attachment, Choice


class PrivateReply(Protocol):
    """A way to one person."""

    async def tell(self, text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        """Say it to them alone; returns the message's id. Raises `MessengerError` kinds."""
        ...


private_replies: PrivateReplies[PrivateReply] = PrivateReplies("discord")
