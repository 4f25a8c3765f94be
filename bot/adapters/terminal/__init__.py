"""The terminal as a chat platform: messages, reactions, several people, on a screen or through pipes."""

from bot.adapters.terminal.messenger import TerminalMessenger
from bot.adapters.terminal.streams import Streams, standard_streams

__all__ = ["Streams", "TerminalMessenger", "standard_streams"]
