"""A local Discord for tests of the real discord.py. Start with `server.DiscordServer`."""

from tests.discord_double.breaking import backwards, unchanged
from tests.discord_double.errors import ApiError
from tests.discord_double.faults import Hang, LostAnswer, Reset, failing, rate_limited, refusing
from tests.discord_double.interaction import Callback, Interaction
from tests.discord_double.model import Channel, File, Guild, Intent, Message, MessageFlag, Person, Role
from tests.discord_double.permissions import Permission
from tests.discord_double.server import DiscordServer

__all__ = [
    "ApiError",
    "Callback",
    "Channel",
    "DiscordServer",
    "File",
    "Guild",
    "Hang",
    "Intent",
    "Interaction",
    "LostAnswer",
    "Message",
    "MessageFlag",
    "Permission",
    "Person",
    "Reset",
    "Role",
    "backwards",
    "failing",
    "rate_limited",
    "refusing",
    "unchanged",
]
