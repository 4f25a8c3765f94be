"""Databases: SQLite as a file or in memory, PostgreSQL, and the creation of their schema."""
