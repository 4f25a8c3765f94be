"""Copies installations from one database to another, still encrypted, so that no key is needed."""

from sqlalchemy import Connection, Table, Text, func, select

from bot.adapters.slack.installations.database import SECRETS, InstallationDatabase


def count_installations(database: InstallationDatabase) -> int:
    """How many workspaces have the app. Raises `MessengerUnavailable`."""
    try:
        with database.naming_faults():
            if not database.is_there():
                return 0
            bots, _ = _tables(database)
            with database.engine.connect() as connection:
                return connection.execute(select(func.count(bots.c.team_id.distinct()))).scalar_one()
    finally:
        database.engine.dispose()


def copy_installations(source: InstallationDatabase, target: InstallationDatabase) -> None:
    """Copy all installations, replacing those in the target. Raises `MessengerUnavailable`."""
    tables = _tables(source)
    try:
        with source.naming_faults(), source.engine.connect() as reading:
            rows = [_rows(table, reading) for table in tables]
        with target.naming_faults(), target.make() as writing:
            for table, values in zip(tables, rows, strict=True):
                table.create(writing, checkfirst=True)
                writing.execute(table.delete())
                if values:
                    writing.execute(table.insert(), values)
    finally:
        source.engine.dispose()
        target.engine.dispose()


def _rows(table: Table, reading: Connection) -> list[dict[str, object]]:
    """The rows without their numeric ids, which the target assigns."""
    rows = reading.execute(select(*(column for column in table.c if column.name != "id")).order_by(table.c.id))
    return [dict(row) for row in rows.mappings()]


def _tables(database: InstallationDatabase) -> tuple[Table, Table]:
    """The tables with secrets as plain text columns, so that values stay encrypted."""
    from slack_sdk.oauth.installation_store.sqlalchemy import SQLAlchemyInstallationStore

    store = SQLAlchemyInstallationStore("", database.engine)
    for table in (store.bots, store.installations):
        for column in table.c:
            if column.name in SECRETS:
                column.type = Text()
    return store.bots, store.installations
