"""Tables of reactions, votes, judgements, voters' trust records, sent messages (the ledger), and saved messages."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    and_,
    func,
    text,
)

from memory.adapters.sql.tables.columns import READ_AS, metadata, moment, number, real, short
from memory.adapters.sql.tables.types import EnumText, shares
from memory.model import LedgerEntry, Reaction, Role, Standing, TrustEvidence, Vote
from memory.model.evidence import Judgement, Threshold
from memory.model.saved import SavedMessage

reactions = Table(
    "reactions",
    metadata,
    *short("workspace", "channel", "message_id", "node_id", "actor", "source"),
    Column("value", SmallInteger, nullable=False),
    Column("role", EnumText(Role), nullable=False),
    *moment("at"),
    *short("run_id"),
    Column("is_active", Boolean, nullable=False),
    Column("seq", BigInteger, nullable=False),
    *short("event_id"),
    PrimaryKeyConstraint("workspace", "channel", "message_id", "node_id", "actor", "source"),
    Index(None, "workspace", "run_id"),
    Index(None, "workspace", "actor"),
    sqlite_with_rowid=False,
    info={READ_AS: Reaction},
)

MAY_BE_LIMITED = text(
    "(role IN ('member', 'guest', 'bot') OR (role != 'admin' AND "
    "substr(source || ':', 1, 11) != 'correction:' AND substr(source || ':', 1, 7) != 'review:'))"
)
"""`memory.rules.verdict.may_be_limited` in SQL. SQLite uses the partial index only for exactly the same expression."""

votes = Table(
    "votes",
    metadata,
    *short("workspace", "run_id", "node_id", "actor"),
    Column("role", EnumText(Role), nullable=False),
    Column("value", SmallInteger, nullable=False),
    *moment("at"),
    *short("source", "event_id"),
    Column("is_limited", Boolean, nullable=False),
    Column("standing", EnumText(Standing), nullable=False),
    PrimaryKeyConstraint("workspace", "run_id", "node_id", "actor"),
    Index(None, "workspace", "actor", "at"),
    Index(
        "ix_votes_that_may_be_limited",
        "workspace",
        "actor",
        "at",
        sqlite_where=MAY_BE_LIMITED,
        postgresql_where=MAY_BE_LIMITED,
    ),
    Index(None, "workspace", "role", "at"),
    sqlite_with_rowid=False,
    info={READ_AS: Vote},
)

# What administrators' votes prove about the other voters of a run. Derived from its votes, and stored to count it.
trust_evidence = Table(
    "trust_evidence",
    metadata,
    *short("workspace", "run_id", "node_id", "actor"),
    Column("agrees", Boolean, nullable=False),
    PrimaryKeyConstraint("workspace", "run_id", "node_id", "actor"),
    Index(None, "workspace", "actor"),
    sqlite_with_rowid=False,
    info={READ_AS: TrustEvidence},
)

# When each person stops being a newcomer. The row with an empty person is the workspace's: people who come before that
# time are known at once.
people = Table(
    "people",
    metadata,
    *short("workspace", "person"),
    *moment("known_from"),
    PrimaryKeyConstraint("workspace", "person"),
    sqlite_with_rowid=False,
)

# The people and channels that the bot has welcomed; the workspace's row has neither.
welcomes = Table(
    "welcomes",
    metadata,
    *short("workspace", "person", "channel"),
    *moment("at"),
    PrimaryKeyConstraint("workspace", "person", "channel"),
    sqlite_with_rowid=False,
)

# How often each person was proven right and wrong: counts of `trust_evidence`, so that weighing a vote reads one row.
trust_records = Table(
    "trust_records",
    metadata,
    *short("workspace", "actor"),
    *number("right", "wrong"),
    PrimaryKeyConstraint("workspace", "actor"),
    sqlite_with_rowid=False,
)

RECORD = (
    func.coalesce(trust_records.c.right, 0).label("right"),
    func.coalesce(trust_records.c.wrong, 0).label("wrong"),
)
"""The columns of how often a voter was proven right and wrong, for `WITH_RECORD`."""
WITH_RECORD = votes.outerjoin(
    trust_records, and_(trust_records.c.workspace == votes.c.workspace, trust_records.c.actor == votes.c.actor)
)

ledger = Table(
    "ledger",
    metadata,
    *short("workspace", "channel", "message_id", "run_id"),
    *number("part"),
    *moment("posted_at", "expires_at"),
    PrimaryKeyConstraint("workspace", "channel", "message_id"),
    Index(None, "workspace", "run_id"),
    Index(None, "workspace", "channel", "posted_at"),
    Index(None, "expires_at"),
    sqlite_with_rowid=False,
    info={READ_AS: LedgerEntry},
)

# Derived from the votes on runs and the runs' evidence, and stored to count them fast.
_COUNTED = ("is_right", "is_known", "is_checked")
judgements = Table(
    "judgements",
    metadata,
    *short("workspace", "run_id", "actor"),
    *moment("at"),
    *number("confidence"),
    Column("is_right", Boolean, nullable=False),
    Column("is_known", Boolean, nullable=False),
    Column("is_checked", Boolean, nullable=False),
    PrimaryKeyConstraint("workspace", "run_id", "actor"),
    # A covering index for counting a threshold, which would otherwise look up each of a thousand judgements.
    Index("ix_judgements_newest", "workspace", "at", "run_id", "actor", "confidence", *_COUNTED),
    sqlite_with_rowid=False,
    info={READ_AS: Judgement},
)

# Computed from the judgements, so that a recall reads one row.
thresholds = Table(
    "thresholds",
    metadata,
    *short("workspace"),
    *real("budget", "value", "confusion"),
    Column("reliability", shares, nullable=False),
    PrimaryKeyConstraint("workspace"),
    sqlite_with_rowid=False,
    info={READ_AS: Threshold},
)

saved_messages = Table(
    "saved_messages",
    metadata,
    *short("workspace", "channel", "message_id", "lesson_id", "link"),
    *moment("saved_at"),
    PrimaryKeyConstraint("workspace", "channel", "message_id"),
    ForeignKeyConstraint(
        ["workspace", "lesson_id"],
        ["episodes.workspace", "episodes.id"],
        name="fk_saved_messages_episodes",
        ondelete="CASCADE",
    ),
    Index(None, "workspace", "lesson_id"),
    sqlite_with_rowid=False,
    info={READ_AS: SavedMessage},
)
