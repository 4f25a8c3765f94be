"""The terminal as a chat platform: messages, reactions, several people, on a screen or through pipes."""

from bot.adapters.terminal.messenger import TerminalMessenger as TerminalMessenger
from bot.adapters.terminal.streams import Streams as Streams, standard_streams as standard_streams
