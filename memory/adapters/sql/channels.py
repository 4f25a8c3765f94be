"""Who can read which channel now, and what was decided for it."""

from typing import Any

from sqlalchemy import Label, Table, select, update

from memory.adapters.sql.delivery_tables import channels, known_answers
from memory.adapters.sql.session import SqlTable, matching
from memory.model import Channel, KnownAnswers

_c = channels.c
_k = known_answers.c
_GET = select(channels).where(matching(channels, "channel"))
_KNOWN_ANSWERS = select(known_answers).where(matching(known_answers, "channel"))


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


def channel_visibility(table: Table) -> Label[Any]:
    """A column beside those of a table: who can read the row's channel now, null where nothing is known of it."""
    here = select(_c.visibility).where(_c.workspace == table.c.workspace, _c.channel == table.c.channel)
    return here.correlate(table).scalar_subquery().label("channel_visibility")
