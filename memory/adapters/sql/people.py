"""Since when people are known."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import bindparam, delete, func, null, select, union_all

from memory.adapters.sql.session import SqlTable, add_statement, among, matching
from memory.adapters.sql.teaching_tables import people as people_table
from memory.adapters.sql.teaching_tables import votes, welcomes
from memory.model import Acquaintance, Role
from memory.ports.people import EVERYBODY

_p = people_table.c
_KNOWN = select(_p.person, _p.known_from).where(among(people_table, "person"))
_TAUGHT_FROM = select(null(), func.min(votes.c.at)).where(
    votes.c.workspace == bindparam("workspace"), votes.c.role == Role.TEACHER
)
_ACQUAINTANCE = union_all(_KNOWN, _TAUGHT_FROM)
_FORGET = delete(people_table).where(matching(people_table, "person"))
_WELCOMED = select(welcomes.c.at).where(matching(welcomes, "person"))
_FORGET_WELCOME = delete(welcomes).where(matching(welcomes, "person"))
_ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)


class SqlPeopleTable(SqlTable):
    """`memory.ports.PeopleTable` in SQL."""

    def note(
        self, workspace: str, person: str, at: datetime, newcomer: timedelta, *, known: Acquaintance | None = None
    ) -> Acquaintance:
        if known is None:
            known = Acquaintance(known_from=self._known(workspace, [person, EVERYBODY]))
        if person in known.known_from:
            return known
        founded = known.known_from.get(EVERYBODY)
        later = at + min(newcomer, datetime.max.replace(tzinfo=UTC) - at)
        new = {person: _ALWAYS if founded is None or at <= founded else later}
        if founded is None:
            new[EVERYBODY] = later
        rows = [{"workspace": workspace, "person": each, "known_from": since} for each, since in new.items()]
        self._session.run(add_statement(people_table), rows)
        return replace(known, known_from={**known.known_from, **new})

    def acquaintance(self, workspace: str, people: Iterable[str]) -> Acquaintance:
        rows = self._session.rows(_ACQUAINTANCE, {"workspace": workspace, "ids": list(dict.fromkeys(people))})
        known = {row.person: row.known_from for row in rows}
        taught_from = known.pop(None, None)
        return Acquaintance(known_from=known, taught_from=taught_from)

    def listed(self, workspace: str, *, after: str, limit: int) -> list[str]:
        behind = (_p.workspace == workspace, _p.person > after, _p.person != EVERYBODY)
        rows = self._session.rows(select(_p.person).where(*behind).order_by(_p.person).limit(limit))
        return [row.person for row in rows]

    def forget(self, workspace: str, person: str) -> None:
        for forget in (_FORGET, _FORGET_WELCOME):
            self._session.run(forget, {"workspace": workspace, "person": person})

    def welcome(self, workspace: str, at: datetime, *, channel: str = "", person: str = "") -> bool:
        row = {"workspace": workspace, "channel": channel, "person": person, "at": at}
        return self._session.run(add_statement(welcomes), row) == 1

    def welcomed_at(self, workspace: str, person: str) -> datetime | None:
        row = self._session.row(_WELCOMED, {"workspace": workspace, "person": person})
        return None if row is None else row.at

    def _known(self, workspace: str, people: Iterable[str]) -> dict[str, datetime]:
        return {row.person: row.known_from for row in self._session.each(_KNOWN, workspace, people)}
