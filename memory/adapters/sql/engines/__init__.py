"""The databases: SQLite as a file or in memory, PostgreSQL, and how a schema is made in them."""
