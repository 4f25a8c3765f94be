"""The tables of defence: limits and trust of voters, quarantine of episodes, and which event a vote came by."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, SmallInteger, String, Text

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_REACTION = "workspace, channel, message_id, node_id, actor, source, value, role, at, run_id, is_active, seq"
_VOTE = "workspace, run_id, node_id, actor, role, value, at, source"


def upgrade() -> None:
    # New columns belong before the keys, so the two tables are made anew. Nothing refers to them.
    _set_aside("reactions", "ix_reactions_workspace_actor", "ix_reactions_workspace_run_id")
    _create_reactions(Column("event_id", String, nullable=False))
    op.execute(f"INSERT INTO reactions ({_REACTION}, event_id) SELECT {_REACTION}, '' FROM reactions_before")  # noqa: S608 - column names of this file
    op.drop_table("reactions_before")
    _set_aside("votes")
    _create_votes(Column("event_id", String, nullable=False), Column("is_limited", Boolean, nullable=False))
    op.execute(f"INSERT INTO votes ({_VOTE}, event_id, is_limited) SELECT {_VOTE}, '', 0 FROM votes_before")  # noqa: S608 - column names of this file
    op.drop_table("votes_before")
    op.create_index("ix_votes_workspace_actor_at", "votes", ["workspace", "actor", "at"])
    _create_trust_evidence()
    _create_quarantines()


def downgrade() -> None:
    op.drop_table("quarantines")
    op.drop_table("trust_evidence")
    _set_aside("votes", "ix_votes_workspace_actor_at")
    _create_votes()
    op.execute(f"INSERT INTO votes ({_VOTE}) SELECT {_VOTE} FROM votes_before")  # noqa: S608 - column names of this file
    op.drop_table("votes_before")
    _set_aside("reactions", "ix_reactions_workspace_actor", "ix_reactions_workspace_run_id")
    _create_reactions()
    op.execute(f"INSERT INTO reactions ({_REACTION}) SELECT {_REACTION} FROM reactions_before")  # noqa: S608 - column names of this file
    op.drop_table("reactions_before")


def _set_aside(table: str, *indexes: str) -> None:
    for index in indexes:
        op.drop_index(index, table)
    op.rename_table(table, f"{table}_before")


def _create_reactions(*more: Column[str]) -> None:
    op.create_table(
        "reactions",
        Column("workspace", String, nullable=False),
        Column("channel", String, nullable=False),
        Column("message_id", String, nullable=False),
        Column("node_id", String, nullable=False),
        Column("actor", String, nullable=False),
        Column("source", String, nullable=False),
        Column("value", SmallInteger, nullable=False),
        Column("role", String, nullable=False),
        Column("at", BigInteger, nullable=False),
        Column("run_id", String, nullable=False),
        Column("is_active", Boolean, nullable=False),
        Column("seq", BigInteger, nullable=False),
        *more,
        sa.PrimaryKeyConstraint(
            "workspace", "channel", "message_id", "node_id", "actor", "source", name="pk_reactions"
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_reactions_workspace_actor", "reactions", ["workspace", "actor"])
    op.create_index("ix_reactions_workspace_run_id", "reactions", ["workspace", "run_id"])


def _create_votes(*more: Column[str] | Column[bool]) -> None:
    op.create_table(
        "votes",
        Column("workspace", String, nullable=False),
        Column("run_id", String, nullable=False),
        Column("node_id", String, nullable=False),
        Column("actor", String, nullable=False),
        Column("role", String, nullable=False),
        Column("value", SmallInteger, nullable=False),
        Column("at", BigInteger, nullable=False),
        Column("source", String, nullable=False),
        *more,
        sa.PrimaryKeyConstraint("workspace", "run_id", "node_id", "actor", name="pk_votes"),
        sqlite_with_rowid=False,
    )


def _create_trust_evidence() -> None:
    op.create_table(
        "trust_evidence",
        Column("workspace", String, nullable=False),
        Column("run_id", String, nullable=False),
        Column("node_id", String, nullable=False),
        Column("actor", String, nullable=False),
        Column("agrees", Boolean, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "run_id", "node_id", "actor", name="pk_trust_evidence"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_trust_evidence_workspace_actor", "trust_evidence", ["workspace", "actor"])


def _create_quarantines() -> None:
    op.create_table(
        "quarantines",
        Column("workspace", String, nullable=False),
        Column("episode_id", String, nullable=False),
        Column("reasons", Text, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "episode_id", name="pk_quarantines"),
        sa.ForeignKeyConstraint(
            ["workspace", "episode_id"],
            ["episodes.workspace", "episodes.id"],
            name="fk_quarantines_episodes",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )
