"""The tables of reactions, votes, judgements, records of voters, sent messages (the ledger) and saved ones."""

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
"""`memory.rules.verdict.may_be_limited` in SQL; the index has it word for word, for SQLite uses it only then."""

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

# What administrators' votes prove about the other voters of a run: a fold of its votes, kept to be counted by person.
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

# When each person stops being a newcomer. The row without a person's name is of the workspace: until when whoever comes
# is known at once.
people = Table(
    "people",
    metadata,
    *short("workspace", "person"),
    *moment("known_from"),
    PrimaryKeyConstraint("workspace", "person"),
    sqlite_with_rowid=False,
)

# Whom and where the bot has welcomed: a person, a channel, or, with neither, the workspace.
welcomes = Table(
    "welcomes",
    metadata,
    *short("workspace", "person", "channel"),
    *moment("at"),
    PrimaryKeyConstraint("workspace", "person", "channel"),
    sqlite_with_rowid=False,
)

# How often each person was proven right and wrong: the evidence counted, so that a vote is weighed by one row.
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
"""How often a voter was proven right and wrong, in `WITH_RECORD`."""
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

# A fold of the votes and of the evidence of the runs they are on, kept to be counted at once.
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
    # With all that a threshold is counted from: it would be another search for each of a thousand judgements.
    Index("ix_judgements_newest", "workspace", "at", "run_id", "actor", "confidence", *_COUNTED),
    sqlite_with_rowid=False,
    info={READ_AS: Judgement},
)

# Counted from the judgements, so that a recall reads one row.
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
