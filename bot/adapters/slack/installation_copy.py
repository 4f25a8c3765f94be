"""Installations from one database into another one, as they are: nobody needs the key of their tokens for it."""

from sqlalchemy import Connection, Table, Text, func, select
from sqlalchemy.exc import SQLAlchemyError

from bot.adapters.slack.installation_database import InstallationDatabase
from bot.errors import MessengerUnavailable


def count_installations(database: InstallationDatabase) -> int:
    """How many workspaces have the app. Raises `MessengerUnavailable`."""
    try:
        if not database.is_there():
            return 0
        bots, _ = _tables(database)
        with database.engine.connect() as connection:
            return connection.execute(select(func.count(bots.c.team_id.distinct()))).scalar_one()
    except SQLAlchemyError as exc:
        raise _cannot_be_used(database, exc) from exc
    finally:
        database.engine.dispose()


def copy_installations(source: InstallationDatabase, target: InstallationDatabase) -> None:
    """Copy all of them; those that the target had before are gone then. Raises `MessengerUnavailable`."""
    try:
        with source.engine.connect() as reading, target.make() as writing:
            for table in _tables(source):
                table.create(writing, checkfirst=True)
                _copy(table, reading, writing)
    except (SQLAlchemyError, OSError) as exc:
        raise _cannot_be_used(target, exc) from exc
    finally:
        source.engine.dispose()
        target.engine.dispose()


def _copy(table: Table, reading: Connection, writing: Connection) -> None:
    writing.execute(table.delete())
    rows = reading.execute(select(*(column for column in table.c if column.name != "id")).order_by(table.c.id))
    if values := [dict(row) for row in rows.mappings()]:
        writing.execute(table.insert(), values)


def _tables(database: InstallationDatabase) -> tuple[Table, Table]:
    """Without their cipher."""
    from slack_sdk.oauth.installation_store.sqlalchemy import SQLAlchemyInstallationStore

    from bot.adapters.slack.installations import SECRETS

    store = SQLAlchemyInstallationStore("", database.engine)
    for table in (store.bots, store.installations):
        for column in table.c:
            if column.name in SECRETS:
                column.type = Text()
    return store.bots, store.installations


def _cannot_be_used(database: InstallationDatabase, error: Exception) -> MessengerUnavailable:
    reason = getattr(error, "orig", None) or type(error).__name__
    return MessengerUnavailable(
        f"the Slack installations in {database.name} cannot be used: {reason}; {database.remedy}"
    )
