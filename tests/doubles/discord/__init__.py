"""A local Discord for tests of the real discord.py. Start with `server.DiscordServer`."""

from tests.doubles.discord.breaking import backwards, unchanged
from tests.doubles.discord.errors import ApiError
from tests.doubles.discord.faults import Hang, LostAnswer, Reset, failing, rate_limited, refusing
from tests.doubles.discord.interaction import Callback, Interaction
from tests.doubles.discord.model import Channel, File, Guild, Intent, Message, MessageFlag, Person, Role
from tests.doubles.discord.permissions import Permission
from tests.doubles.discord.server import DiscordServer

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
