"""The store on SQLAlchemy Core. SQLite for now; the statements are such that PostgreSQL understands them too."""

from memory.adapters.sql.store import SqlStore

__all__ = ["SqlStore"]
