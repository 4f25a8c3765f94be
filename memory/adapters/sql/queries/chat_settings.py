"""Settings changed in chat in SQL."""

from sqlalchemy import Label, Table, bindparam, delete, exists, select, update

from memory.adapters.sql.tables.administration import settings
from memory.adapters.sql.transaction.session import SqlTable, matching
from memory.model.chat_setting import ChatSetting

_s = settings.c
_KEY = ("channel", "name")
_GET = select(settings).where(matching(settings, *_KEY))
_DROP = delete(settings).where(matching(settings, *_KEY))
_WITHIN = (
    select(settings).where(matching(settings), _s.channel.in_(["", bindparam("here")])).order_by(_s.channel, _s.name)
)


def is_set_in_chat(table: Table) -> Label[bool]:
    """The column `has_settings` for a table: whether the row's workspace has any setting."""
    return exists().where(_s.workspace == table.c.workspace).correlate(table).label("has_settings")


class SqlChatSettingTable(SqlTable):
    """`memory.ports.ChatSettingTable` in SQL."""

    def put(self, setting: ChatSetting) -> None:
        self._session.put(settings, setting)

    def drop(self, workspace: str, channel: str, name: str) -> None:
        self._session.run(_DROP, {"workspace": workspace, "channel": channel, "name": name})

    def get(self, workspace: str, channel: str, name: str) -> ChatSetting | None:
        return self._session.first(ChatSetting, _GET, workspace=workspace, channel=channel, name=name)

    def within(self, workspace: str, channel: str) -> list[ChatSetting]:
        return self._session.all(ChatSetting, _WITHIN, workspace=workspace, here=channel)

    def erase_person(self, workspace: str, person: str) -> None:
        own = (_s.workspace == workspace, _s.changed_by == person)
        self._session.run(update(settings).where(*own).values(changed_by=""))
