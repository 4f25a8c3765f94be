"""The tables of reactions, votes, what they prove of their voters, and the ledger of sent messages."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
)

from memory.adapters.sql.columns import metadata, number, short
from memory.adapters.sql.types import Moment, Word
from memory.model import Role

reactions = Table(
    "reactions",
    metadata,
    short("workspace"),
    short("channel"),
    short("message_id"),
    short("node_id"),
    short("actor"),
    short("source"),
    Column("value", SmallInteger, nullable=False),
    Column("role", Word(Role), nullable=False),
    Column("at", Moment, nullable=False),
    short("run_id"),
    Column("is_active", Boolean, nullable=False),
    Column("seq", BigInteger, nullable=False),
    short("event_id"),
    PrimaryKeyConstraint("workspace", "channel", "message_id", "node_id", "actor", "source"),
    Index(None, "workspace", "run_id"),
    Index(None, "workspace", "actor"),
    sqlite_with_rowid=False,
)

votes = Table(
    "votes",
    metadata,
    short("workspace"),
    short("run_id"),
    short("node_id"),
    short("actor"),
    Column("role", Word(Role), nullable=False),
    Column("value", SmallInteger, nullable=False),
    Column("at", Moment, nullable=False),
    short("source"),
    short("event_id"),
    Column("is_limited", Boolean, nullable=False),
    PrimaryKeyConstraint("workspace", "run_id", "node_id", "actor"),
    Index(None, "workspace", "actor", "at"),
    sqlite_with_rowid=False,
)

trust_evidence = Table(
    "trust_evidence",
    metadata,
    short("workspace"),
    short("run_id"),
    short("node_id"),
    short("actor"),
    Column("agrees", Boolean, nullable=False),
    PrimaryKeyConstraint("workspace", "run_id", "node_id", "actor"),
    Index(None, "workspace", "actor"),
    sqlite_with_rowid=False,
)

trust_records = Table(
    "trust_records",
    metadata,
    short("workspace"),
    short("actor"),
    number("right"),
    number("wrong"),
    PrimaryKeyConstraint("workspace", "actor"),
    sqlite_with_rowid=False,
)

ledger = Table(
    "ledger",
    metadata,
    short("workspace"),
    short("channel"),
    short("message_id"),
    short("run_id"),
    number("part"),
    Column("posted_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    PrimaryKeyConstraint("workspace", "channel", "message_id"),
    Index(None, "workspace", "run_id"),
    Index(None, "workspace", "channel", "posted_at"),
    Index(None, "expires_at"),
    sqlite_with_rowid=False,
)
