"""The workspaces that installed the app, in slack-sdk's own tables with every secret in them encrypted.

They are independent of the memory's tables and migrations (`database.py`). slack-sdk's stores are synchronous, so each
call runs on a thread, one at a time.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import ParamSpec, TypeVar

from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.installation_store.sqlalchemy import SQLAlchemyInstallationStore
from slack_sdk.oauth.state_store.sqlalchemy import SQLAlchemyOAuthStateStore
from sqlalchemy import Connection, Table, Text, func, inspect, select, type_coerce

from bot.adapters.slack.installations.database import SECRETS, InstallationDatabase
from bot.adapters.slack.installations.encryption import EncryptedText, TokenCipher
from bot.adapters.slack.web import library_log
from bot.errors import ConfigError
from memory.ports import Clock

P = ParamSpec("P")
R = TypeVar("R")

STATE_GOOD_FOR_S = 600
"""How long a person may take from the install page to Slack's consent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The latest installation of the app in one workspace."""

    team: str
    enterprise: str | None
    bot_user: str
    token: str = field(repr=False)
    at: datetime
    installer: str = ""
    """The person who installed it."""


class Installations:
    """Stores installations, and the OAuth states of those under way.

    Raises `ConfigError` if the database or the keys do not fit, `MessengerUnavailable` if it cannot be used now.
    """

    def __init__(
        self,
        database: InstallationDatabase,
        *,
        client_id: str,
        cipher: TokenCipher,
        clock: Clock,
        state_good_for_s: int = STATE_GOOD_FOR_S,
    ) -> None:
        self._database = database
        self._client_id = client_id
        self._cipher = cipher
        self._clock = clock
        self._engine = database.engine
        self._store = SQLAlchemyInstallationStore(client_id, self._engine, logger=library_log())
        self._states = SQLAlchemyOAuthStateStore(state_good_for_s, self._engine, logger=library_log())
        self._tables = (self._store.bots, self._store.installations)
        for table in self._tables:
            for column in table.c:
                if column.name in SECRETS:
                    column.type = EncryptedText(cipher)
        self._one_at_a_time = asyncio.Lock()

    async def open(self) -> None:
        """Make missing tables, and encrypt with the first key what an older key encrypted."""
        await self._executor(self._open)

    async def of(self, team: str) -> Installed | None:
        """The installation in a workspace."""
        return await self._executor(self._of, team)

    async def times(self) -> dict[str, datetime]:
        """The workspaces that have the app, and when it was installed there last."""
        return await self._executor(self._times)

    async def check(self) -> int:
        """How many workspaces have the app. Changes nothing; raises `ConfigError` if a token cannot be decrypted."""
        return await self._executor(self._check_all)

    def close(self) -> None:
        """Close connections. Later calls open new ones."""
        self._engine.dispose()

    async def save(self, installation: Installation) -> None:
        """Store an installation as its workspace's latest."""
        await self._executor(self._store.save, installation)

    async def remove(self, installed: Installed) -> None:
        """Forget everything about the app in that workspace, and nothing else."""
        await self._executor(self._store.delete_all, enterprise_id=installed.enterprise, team_id=installed.team)

    async def new_state(self) -> str:
        """A random OAuth state, which comes back with the person who was sent to Slack."""
        return await self._executor(self._new_state)

    async def use_state(self, state: str) -> bool:
        """Use up an OAuth state. False if it was not issued, is too old, or was used before."""
        return await self._executor(self._use_state, state)

    # On a thread ----------------------------------------------------------------------------------------------------

    async def _executor(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        async with self._one_at_a_time:
            with self._database.naming_faults():
                return await asyncio.to_thread(partial(function, *args, **kwargs))

    def _open(self) -> None:
        with self._database.make() as connection:
            for store in (self._store, self._states):
                store.metadata.create_all(connection)
            for table in self._tables:
                self._check(connection, table)
                self._encrypt_anew(connection, table)

    def _check_all(self) -> int:
        if not self._database.is_there():
            return 0
        with self._engine.connect() as connection:
            for table in self._tables:
                self._check(connection, table)
                # Each is decrypted as it is read.
                connection.execute(select(*(table.c[name] for name in SECRETS if name in table.c))).all()
        return len(self._times())

    def _check(self, connection: Connection, table: Table) -> None:
        there = {column["name"] for column in inspect(connection).get_columns(table.name)}
        if missing := sorted({column.name for column in table.c} - there):
            raise ConfigError(
                f"{self._database.name} is of another version of slack-sdk: its table {table.name} lacks "
                f"{', '.join(missing)}; {self._database.start_anew} and install the app again"
            )

    def _encrypt_anew(self, connection: Connection, table: Table) -> None:
        for column in [table.c[name] for name in SECRETS if name in table.c]:
            raw = select(table.c.id, type_coerce(column, Text)).where(column.is_not(None))
            for row_id, secret in connection.execute(raw).all():
                if not self._cipher.is_of_first_key(secret):
                    plain = self._cipher.decrypt(secret)
                    connection.execute(table.update().where(table.c.id == row_id).values({column.name: plain}))

    def _of(self, team: str) -> Installed | None:
        c = self._store.bots.c
        mine = (c.client_id == self._client_id, c.team_id == team, c.bot_token.is_not(None))
        query = select(c.enterprise_id).where(*mine).order_by(c.installed_at.desc()).limit(1)
        with self._engine.connect() as connection:
            row = connection.execute(query).first()
        bot = None if row is None else self._store.find_bot(enterprise_id=row.enterprise_id, team_id=team)
        if bot is None or not bot.bot_token:
            return None
        installation = self._store.find_installation(enterprise_id=bot.enterprise_id, team_id=team)
        return Installed(
            team=team,
            enterprise=bot.enterprise_id,
            bot_user=bot.bot_user_id,
            token=bot.bot_token,
            at=datetime.fromtimestamp(bot.installed_at, UTC),
            installer=installation.user_id if installation is not None else "",
        )

    def _times(self) -> dict[str, datetime]:
        c = self._store.bots.c
        mine = (c.client_id == self._client_id, c.team_id.is_not(None), c.bot_token.is_not(None))
        query = select(c.team_id, func.max(c.installed_at)).where(*mine).group_by(c.team_id)
        with self._engine.connect() as connection:
            return {team: at.replace(tzinfo=UTC) for team, at in connection.execute(query)}

    def _new_state(self) -> str:
        states = self._states.oauth_states
        with self._engine.begin() as connection:
            # slack-sdk keeps unused states: repeated requests of the page would fill the disk.
            connection.execute(states.delete().where(states.c.expire_at < self._clock().replace(tzinfo=None)))
        return self._states.issue()

    def _use_state(self, state: str) -> bool:
        # One statement: slack-sdk's two would let two processes use one state.
        c, now = self._states.oauth_states.c, self._clock().replace(tzinfo=None)
        used = self._states.oauth_states.delete().where(c.state == state, c.expire_at > now)
        with self._engine.begin() as connection:
            return connection.execute(used).rowcount == 1
