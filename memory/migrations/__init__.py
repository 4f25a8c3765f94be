"""Migrations of the database of an earlier release, one step per file in `versions`.

The migration library is imported only when needed. A new database is made from the tables of the code (`adapters/sql`).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection


def upgrade(connection: "Connection") -> None:
    """Run the steps this database lacks, inside the connection's transaction."""
    from alembic import command

    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def known_revisions() -> list[str]:
    """Every revision this code knows, newest first."""
    from alembic.script import ScriptDirectory

    return [script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()]


def _config() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "memory:migrations")
    return config
