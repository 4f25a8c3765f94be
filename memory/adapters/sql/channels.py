"""Who can read which channel now."""

from typing import Any

from sqlalchemy import Label, Table, select

from memory.adapters.sql.delivery_tables import channels
from memory.adapters.sql.session import SqlTable, matching
from memory.model import Channel

_c = channels.c
_GET = select(channels).where(matching(channels, "channel"))


class SqlChannelTable(SqlTable):
    """`memory.ports.ChannelTable` in SQL."""

    def put(self, channel: Channel) -> None:
        self._session.put(channels, channel)

    def get(self, workspace: str, channel: str) -> Channel | None:
        return self._session.first(Channel, _GET, workspace=workspace, channel=channel)


def channel_visibility(table: Table) -> Label[Any]:
    """A column beside those of a table: who can read the row's channel now, null where nothing is known of it."""
    here = select(_c.visibility).where(_c.workspace == table.c.workspace, _c.channel == table.c.channel)
    return here.correlate(table).scalar_subquery().label("channel_visibility")
