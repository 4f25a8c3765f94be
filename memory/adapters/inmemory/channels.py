"""Channels in dictionaries."""

from memory.adapters.inmemory.state import Access
from memory.adapters.row_validation import storable
from memory.model import Channel


class Channels:
    """`memory.ports.ChannelTable` over dictionaries."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def put(self, channel: Channel) -> None:
        self._access.changing.channels[storable(channel).workspace, channel.channel] = channel

    def get(self, workspace: str, channel: str) -> Channel | None:
        return self._access.state.channels.get((workspace, channel))
