"""The store for SQLite and PostgreSQL, on SQLAlchemy Core."""

from memory.adapters.sql.store import SqlStore as SqlStore
