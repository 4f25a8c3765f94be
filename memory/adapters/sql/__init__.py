"""The store on SQLAlchemy Core, for SQLite and PostgreSQL."""

from memory.adapters.sql.store import SqlStore as SqlStore
