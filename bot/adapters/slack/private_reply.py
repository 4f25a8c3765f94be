"""The private replies of Slack: a message goes back through the click or command it answers."""

from collections.abc import Awaitable, Callable

from bot.adapters.private_reply import PrivateReplies
from bot.model import BotMessage

Tell = Callable[[BotMessage], Awaitable[None]]

private_replies: PrivateReplies[Tell] = PrivateReplies("slack")
