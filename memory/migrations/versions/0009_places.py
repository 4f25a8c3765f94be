"""The place a run of steps was begun in, and no question in what tells how a lesson fared.

A run whose first steps are stored belongs where they were said; of another one nothing is known, so it counts as begun
in a direct message, where only its person looks.
"""

from urllib.parse import quote

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, Integer, String, Text

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_RUN = "workspace, person, session_id, run_id, node_run, root_id, rep, is_evaluation, started_at, task"
_OLD_KEY = ("workspace", "person", "session_id", "run_id")
_NEW_KEY = ("workspace", "person", "session_id", "partition", "run_id")


def upgrade() -> None:
    # A new part of the key belongs before the rest, so the table is made anew. Nothing refers to it.
    op.rename_table("session_runs", "session_runs_before")
    _create_session_runs(_NEW_KEY, Column("partition", String, nullable=False))
    op.execute(f"INSERT INTO session_runs ({_RUN}, partition) SELECT {_RUN}, '' FROM session_runs_before")  # noqa: S608 - column names of this file
    op.drop_table("session_runs_before")
    _place_runs()
    op.execute(
        "UPDATE events SET detail = json_remove(detail, '$.context') "
        "WHERE actor = 'detector' AND json_extract(detail, '$.context') IS NOT NULL"
    )


def downgrade() -> None:
    """Of two runs with one id, begun in two places, the table as it was holds one."""
    op.rename_table("session_runs", "session_runs_before")
    _create_session_runs(_OLD_KEY)
    op.execute(f"INSERT OR IGNORE INTO session_runs ({_RUN}) SELECT {_RUN} FROM session_runs_before")  # noqa: S608 - column names of this file
    op.drop_table("session_runs_before")


def _place_runs() -> None:
    connection = op.get_bind()
    rows = connection.execute(
        sa.text(
            "SELECT r.workspace, r.person, r.session_id, r.run_id, e.channel, e.visibility FROM session_runs r "
            "LEFT JOIN episodes e ON e.workspace = r.workspace AND e.id = r.root_id"
        )
    ).all()
    for row in rows:
        connection.execute(
            sa.text(
                "UPDATE session_runs SET partition = :partition WHERE workspace = :workspace AND person = :person "
                "AND session_id = :session_id AND run_id = :run_id"
            ),
            {**row._mapping, "partition": _partition(row.person, row.channel or "", row.visibility or "direct")},
        )


def _partition(person: str, channel: str, visibility: str) -> str:
    own = f"person/{quote(person, safe='')}"
    inside = f"{own}/in/{quote(channel, safe='')}"
    return {"public": own, "private": inside, "shared": f"{inside}/shared"}.get(visibility, f"{own}/direct")


def _create_session_runs(key: tuple[str, ...], *more: Column[str]) -> None:
    op.create_table(
        "session_runs",
        Column("workspace", String, nullable=False),
        Column("person", String, nullable=False),
        *more,
        Column("session_id", String, nullable=False),
        Column("run_id", String, nullable=False),
        Column("node_run", String, nullable=False),
        Column("root_id", String, nullable=False),
        Column("rep", Integer, nullable=False),
        Column("is_evaluation", Boolean, nullable=False),
        Column("started_at", BigInteger, nullable=False),
        Column("task", Text, nullable=False),
        sa.PrimaryKeyConstraint(*key, name="pk_session_runs"),
        sqlite_with_rowid=False,
    )
