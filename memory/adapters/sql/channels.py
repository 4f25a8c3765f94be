"""Who can read which channel now, and which threads asked the bot to be quiet."""

from datetime import datetime
from typing import Any

from sqlalchemy import Label, Table, bindparam, delete, select

from memory.adapters.sql.delivery_tables import channels, muted_threads
from memory.adapters.sql.session import SqlTable, matching
from memory.model import Channel, MutedThread

_c = channels.c
_GET = select(channels).where(matching(channels, "channel"))
_MUTED = select(muted_threads.c.since).where(matching(muted_threads, "channel", "thread"))
_SWEEP = delete(muted_threads).where(muted_threads.c.thread != "", muted_threads.c.since < bindparam("before"))
_UNMUTE = delete(muted_threads).where(matching(muted_threads, "channel", "thread"))


class SqlChannelTable(SqlTable):
    """`memory.ports.ChannelTable` in SQL."""

    def put(self, channel: Channel) -> None:
        self._session.put(channels, channel)

    def get(self, workspace: str, channel: str) -> Channel | None:
        return self._session.first(Channel, _GET, workspace=workspace, channel=channel)

    def mute(self, thread: MutedThread) -> None:
        self._session.put(muted_threads, thread)

    def unmute(self, workspace: str, channel: str, thread: str) -> None:
        self._session.run(_UNMUTE, {"workspace": workspace, "channel": channel, "thread": thread})

    def sweep_mutes(self, before: datetime) -> int:
        return self._session.run(_SWEEP, {"before": before})

    def is_muted(self, workspace: str, channel: str, thread: str) -> bool:
        where = {"workspace": workspace, "channel": channel, "thread": thread}
        return self._session.row(_MUTED, where) is not None


def channel_visibility(table: Table) -> Label[Any]:
    """A column beside those of a table: who can read the row's channel now, null where nothing is known of it."""
    here = select(_c.visibility).where(_c.workspace == table.c.workspace, _c.channel == table.c.channel)
    return here.correlate(table).scalar_subquery().label("channel_visibility")
