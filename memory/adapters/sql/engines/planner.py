"""Fixed statistics for SQLite's query planner, so that it never scans a whole workspace for one row.

Without statistics it assumes ten rows per workspace, and prefers "all of this workspace, already sorted" to "this
episode". Gathered statistics would be outdated soon, so they are written by hand (sqlite.org/optoverview.html, "Manual
Control Of Query Plans Using SQLITE_STAT Tables").
"""

from sqlalchemy import Connection, text

_WORKSPACE_ROWS = 100_000
"""Rows in one workspace."""
_MATCHES = 10
"""Rows that share the workspace and one more column of an index: nodes of a run, events of an episode."""
_OF_A_KIND = 10_000
"""Rows that share the workspace and a column with few different values: events of one kind."""
_COARSE = {"ix_events_workspace_kind_seq"}

_INDEXES = text(
    'SELECT t.name AS tbl, i.name AS idx, i.origin, i."unique" AS is_unique, t.wr AS without_rowid, '
    "(SELECT count(*) FROM pragma_index_info(i.name)) AS columns "
    "FROM pragma_table_list AS t, pragma_index_list(t.name) AS i "
    "WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name != 'alembic_version'"
)
_ADD = text("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (:tbl, :idx, :stat)")


def advise_planner(connection: Connection) -> None:
    """Write the statistics for all existing indexes. Other connections read them when they are opened."""
    connection.exec_driver_sql("ANALYZE sqlite_schema")  # makes the table if there is none
    connection.exec_driver_sql("DELETE FROM sqlite_stat1")
    for index in connection.execute(_INDEXES).all():
        matches = _OF_A_KIND if index.idx in _COARSE else _MATCHES
        rows = [_WORKSPACE_ROWS, matches, *[1] * index.columns][: index.columns]
        if index.is_unique:
            rows[-1] = 1
        is_table = index.without_rowid and index.origin == "pk"  # such a key has the table's name in sqlite_stat1
        stat = " ".join(map(str, (10 * _WORKSPACE_ROWS, *rows)))
        connection.execute(_ADD, {"tbl": index.tbl, "idx": index.tbl if is_table else index.idx, "stat": stat})
    connection.exec_driver_sql("ANALYZE sqlite_schema")
