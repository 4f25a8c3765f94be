"""Tables of reactions, votes, judgements, voters' trust records, sent messages (the ledger), and saved messages."""

from sqlalchemy import BigInteger, Column, Index, SmallInteger, and_, func, text

from memory.adapters.sql.tables.columns import (
    booleans,
    enums,
    floats,
    integers,
    keyed,
    of_episode,
    partial_index,
    short_texts,
    text_keys,
    timestamps,
)
from memory.adapters.sql.tables.types import shares
from memory.model import LedgerEntry, Reaction, Role, Standing, TrustEvidence, Vote
from memory.model.evidence import Judgement, Threshold
from memory.model.saved_messages import SavedMessage

IN_WORDS = text("source IN ('correction', 'words')")

reactions = keyed(
    "reactions",
    *text_keys("workspace", "channel", "message_id", "node_id", "actor", "source"),
    Column("value", SmallInteger, nullable=False),
    *enums(Role, "role"),
    *timestamps("at"),
    *short_texts("run_id"),
    *booleans("is_active"),
    Column("seq", BigInteger, nullable=False),
    *short_texts("event_id"),
    Index(None, "workspace", "run_id"),
    Index(None, "workspace", "actor"),
    partial_index("ix_reactions_in_words", "workspace", "event_id", where=IN_WORDS),
    read_as=Reaction,
)

MAY_BE_LIMITED = text(
    "(role IN ('member', 'guest', 'bot') OR (role != 'admin' AND "
    "substr(source || ':', 1, 11) != 'correction:' AND substr(source || ':', 1, 7) != 'review:'))"
)
"""`memory.rules.verdict.may_be_limited` in SQL."""

votes = keyed(
    "votes",
    *text_keys("workspace", "run_id", "node_id", "actor"),
    *enums(Role, "role"),
    Column("value", SmallInteger, nullable=False),
    *timestamps("at"),
    *short_texts("source", "event_id"),
    *booleans("is_limited"),
    *enums(Standing, "standing"),
    Index(None, "workspace", "actor", "at"),
    partial_index("ix_votes_that_may_be_limited", "workspace", "actor", "at", where=MAY_BE_LIMITED),
    Index(None, "workspace", "role", "at"),
    read_as=Vote,
)

# What administrators' votes prove about the other voters of a run. Derived from its votes, and stored to count it.
trust_evidence = keyed(
    "trust_evidence",
    *text_keys("workspace", "run_id", "node_id", "actor"),
    *booleans("agrees"),
    Index(None, "workspace", "actor"),
    read_as=TrustEvidence,
)

# When each person stops being a newcomer. The row with an empty person is the workspace's: people who come before that
# time are known at once.
people = keyed("people", *text_keys("workspace", "person"), *timestamps("known_from"))

# The people and channels that the bot has welcomed; the workspace's row has neither.
welcomes = keyed("welcomes", *text_keys("workspace", "person", "channel"), *timestamps("at"))

# How often each person was proven right and wrong: counts of `trust_evidence`, so that weighing a vote reads one row.
trust_records = keyed("trust_records", *text_keys("workspace", "actor"), *integers("right", "wrong"))

RECORD = (
    func.coalesce(trust_records.c.right, 0).label("right"),
    func.coalesce(trust_records.c.wrong, 0).label("wrong"),
)
"""The columns of how often a voter was proven right and wrong, for `WITH_RECORD`."""
WITH_RECORD = votes.outerjoin(
    trust_records, and_(trust_records.c.workspace == votes.c.workspace, trust_records.c.actor == votes.c.actor)
)

ledger = keyed(
    "ledger",
    *text_keys("workspace", "channel", "message_id"),
    *short_texts("run_id"),
    *integers("part"),
    *timestamps("posted_at", "expires_at"),
    Index(None, "workspace", "run_id"),
    Index(None, "workspace", "channel", "posted_at"),
    Index(None, "expires_at"),
    read_as=LedgerEntry,
)

# Derived from the votes on runs and the runs' evidence, and stored to count them fast.
_COUNTED = ("is_right", "is_known", "is_checked")
judgements = keyed(
    "judgements",
    *text_keys("workspace", "run_id", "actor"),
    *timestamps("at"),
    *integers("confidence"),
    *booleans(*_COUNTED),
    # A covering index for counting a threshold, which would otherwise look up each of a thousand judgements.
    Index("ix_judgements_newest", "workspace", "at", "run_id", "actor", "confidence", *_COUNTED),
    read_as=Judgement,
)

# Computed from the judgements, so that a recall reads one row.
thresholds = keyed(
    "thresholds",
    *text_keys("workspace"),
    *floats("budget", "value", "confusion"),
    Column("reliability", shares, nullable=False),
    read_as=Threshold,
)

saved_messages = keyed(
    "saved_messages",
    *text_keys("workspace", "channel", "message_id"),
    *short_texts("lesson_id", "link"),
    *timestamps("saved_at"),
    of_episode("lesson_id"),
    Index(None, "workspace", "lesson_id"),
    read_as=SavedMessage,
)
