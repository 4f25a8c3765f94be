"""The terminal as a chat platform: messages, reactions, several people, interactive or piped."""

from bot.adapters.terminal.messenger import TerminalMessenger as TerminalMessenger
from bot.adapters.terminal.streams import Streams as Streams, standard_streams as standard_streams
