"""Runs taken step by step, their grades, and values that expire.

A migration is history: it repeats the tables as they were, and takes nothing from the code that changes later.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, String, Text

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_session_runs()
    _create_steps()
    _create_step_grades()
    _create_short_memories()


def downgrade() -> None:
    for table in ("short_memories", "step_grades", "steps", "session_runs"):
        op.drop_table(table)


def _create_session_runs() -> None:
    op.create_table(
        "session_runs",
        Column("workspace", String, nullable=False),
        Column("person", String, nullable=False),
        Column("session_id", String, nullable=False),
        Column("run_id", String, nullable=False),
        Column("node_run", String, nullable=False),
        Column("root_id", String, nullable=False),
        Column("rep", Integer, nullable=False),
        Column("is_evaluation", Boolean, nullable=False),
        Column("started_at", BigInteger, nullable=False),
        Column("task", Text, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "person", "session_id", "run_id", name="pk_session_runs"),
        sqlite_with_rowid=False,
    )


def _create_steps() -> None:
    op.create_table(
        "steps",
        Column("workspace", String, nullable=False),
        Column("episode_id", String, nullable=False),
        Column("person", String, nullable=False),
        Column("session_id", String, nullable=False),
        Column("run_id", String, nullable=False),
        Column("number", Integer, nullable=False),
        Column("step_id", String, nullable=False),
        Column("action", Text, nullable=False),
        Column("element_text", Text, nullable=False),
        Column("internal_state", Text, nullable=False),
        Column("env_pre", Text, nullable=False),
        Column("env_post", Text, nullable=False),
        Column("embedding", Text, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "episode_id", name="pk_steps"),
        sa.ForeignKeyConstraint(
            ["workspace", "episode_id"],
            ["episodes.workspace", "episodes.id"],
            name="fk_steps_episodes",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_steps_workspace_person_session_id_number", "steps", ["workspace", "person", "session_id", "number"]
    )


def _create_step_grades() -> None:
    op.create_table(
        "step_grades",
        Column("workspace", String, nullable=False),
        Column("seq", BigInteger, nullable=False),
        Column("episode_id", String, nullable=False),
        Column("actor", String, nullable=False),
        Column("source", String, nullable=False),
        Column("grader", String, nullable=False),
        Column("is_correct", Boolean, nullable=False),
        Column("confidence", Float(53), nullable=False),
        Column("at", BigInteger, nullable=False),
        Column("explanation", Text, nullable=False),
        Column("correction", Text, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "seq", name="pk_step_grades"),
        sa.ForeignKeyConstraint(
            ["workspace", "episode_id"],
            ["episodes.workspace", "episodes.id"],
            name="fk_step_grades_episodes",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_step_grades_workspace_actor", "step_grades", ["workspace", "actor"])
    op.create_index("ix_step_grades_workspace_episode_id_seq", "step_grades", ["workspace", "episode_id", "seq"])


def _create_short_memories() -> None:
    op.create_table(
        "short_memories",
        Column("workspace", String, nullable=False),
        Column("kind", String, nullable=False),
        Column("key", String, nullable=False),
        Column("person", String, nullable=False),
        Column("created_at", BigInteger, nullable=False),
        Column("expires_at", BigInteger, nullable=False),
        Column("value", Text, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "kind", "key", name="pk_short_memories"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_short_memories_expires_at", "short_memories", ["expires_at"])
    op.create_index("ix_short_memories_workspace_person", "short_memories", ["workspace", "person"])
