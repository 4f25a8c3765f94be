"""Who can read which channel now, what was decided for it, and how the bot listens there."""

from datetime import datetime
from typing import Any

from sqlalchemy import Label, Table, bindparam, delete, select, update

from memory.adapters.sql.delivery_tables import channel_modes, channels, known_answers, muted_threads
from memory.adapters.sql.session import SqlTable, matching
from memory.model import Channel, ChannelMode, KnownAnswers, ListeningMode, MutedThread

_c = channels.c
_k = known_answers.c
_GET = select(channels).where(matching(channels, "channel"))
_KNOWN_ANSWERS = select(known_answers).where(matching(known_answers, "channel"))
_MODE = select(channel_modes).where(matching(channel_modes, "channel"))
_DROP_MODE = delete(channel_modes).where(matching(channel_modes, "channel"))
_MUTED = select(muted_threads.c.since).where(matching(muted_threads, "channel", "thread"))
_SWEEP = delete(muted_threads).where(muted_threads.c.thread != "", muted_threads.c.since < bindparam("before"))
_UNMUTE = delete(muted_threads).where(matching(muted_threads, "channel", "thread"))


class SqlChannelTable(SqlTable):
    """`memory.ports.ChannelTable` in SQL."""

    def put(self, channel: Channel) -> None:
        self._session.put(channels, channel)

    def get(self, workspace: str, channel: str) -> Channel | None:
        return self._session.first(Channel, _GET, workspace=workspace, channel=channel)

    def put_known_answers(self, switch: KnownAnswers) -> None:
        self._session.put(known_answers, switch)

    def known_answers(self, workspace: str, channel: str) -> KnownAnswers | None:
        return self._session.first(KnownAnswers, _KNOWN_ANSWERS, workspace=workspace, channel=channel)

    def erase_person(self, workspace: str, person: str) -> None:
        own = (_k.workspace == workspace, _k.switched_by == person)
        self._session.run(update(known_answers).where(*own).values(switched_by=""))

    def put_mode(self, chosen: ChannelMode) -> None:
        self._session.put(channel_modes, chosen)

    def drop_mode(self, workspace: str, channel: str) -> None:
        self._session.run(_DROP_MODE, {"workspace": workspace, "channel": channel})

    def mode(self, workspace: str, channel: str) -> ListeningMode | None:
        chosen = self._session.first(ChannelMode, _MODE, workspace=workspace, channel=channel)
        return chosen.mode if chosen is not None else None

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
