"""Tables of reactions, votes, judgements, voters' trust records, sent messages (the ledger), and saved messages."""

from sqlalchemy import BigInteger, Column, Index, SmallInteger, and_, func, text

from memory.adapters.sql.tables.columns import (
    flag,
    key,
    keyed,
    moment,
    number,
    of_episode,
    partial_index,
    real,
    short,
    word,
)
from memory.adapters.sql.tables.types import shares
from memory.model import LedgerEntry, Reaction, Role, Standing, TrustEvidence, Vote
from memory.model.evidence import Judgement, Threshold
from memory.model.saved import SavedMessage

IN_WORDS = text("source IN ('correction', 'words')")

reactions = keyed(
    "reactions",
    *key("workspace", "channel", "message_id", "node_id", "actor", "source"),
    Column("value", SmallInteger, nullable=False),
    *word(Role, "role"),
    *moment("at"),
    *short("run_id"),
    *flag("is_active"),
    Column("seq", BigInteger, nullable=False),
    *short("event_id"),
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
    *key("workspace", "run_id", "node_id", "actor"),
    *word(Role, "role"),
    Column("value", SmallInteger, nullable=False),
    *moment("at"),
    *short("source", "event_id"),
    *flag("is_limited"),
    *word(Standing, "standing"),
    Index(None, "workspace", "actor", "at"),
    partial_index("ix_votes_that_may_be_limited", "workspace", "actor", "at", where=MAY_BE_LIMITED),
    Index(None, "workspace", "role", "at"),
    read_as=Vote,
)

# What administrators' votes prove about the other voters of a run. Derived from its votes, and stored to count it.
trust_evidence = keyed(
    "trust_evidence",
    *key("workspace", "run_id", "node_id", "actor"),
    *flag("agrees"),
    Index(None, "workspace", "actor"),
    read_as=TrustEvidence,
)

# When each person stops being a newcomer. The row with an empty person is the workspace's: people who come before that
# time are known at once.
people = keyed("people", *key("workspace", "person"), *moment("known_from"))

# The people and channels that the bot has welcomed; the workspace's row has neither.
welcomes = keyed("welcomes", *key("workspace", "person", "channel"), *moment("at"))

# How often each person was proven right and wrong: counts of `trust_evidence`, so that weighing a vote reads one row.
trust_records = keyed("trust_records", *key("workspace", "actor"), *number("right", "wrong"))

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
    *key("workspace", "channel", "message_id"),
    *short("run_id"),
    *number("part"),
    *moment("posted_at", "expires_at"),
    Index(None, "workspace", "run_id"),
    Index(None, "workspace", "channel", "posted_at"),
    Index(None, "expires_at"),
    read_as=LedgerEntry,
)

# Derived from the votes on runs and the runs' evidence, and stored to count them fast.
_COUNTED = ("is_right", "is_known", "is_checked")
judgements = keyed(
    "judgements",
    *key("workspace", "run_id", "actor"),
    *moment("at"),
    *number("confidence"),
    *flag(*_COUNTED),
    # A covering index for counting a threshold, which would otherwise look up each of a thousand judgements.
    Index("ix_judgements_newest", "workspace", "at", "run_id", "actor", "confidence", *_COUNTED),
    read_as=Judgement,
)

# Computed from the judgements, so that a recall reads one row.
thresholds = keyed(
    "thresholds",
    *key("workspace"),
    *real("budget", "value", "confusion"),
    Column("reliability", shares, nullable=False),
    read_as=Threshold,
)

saved_messages = keyed(
    "saved_messages",
    *key("workspace", "channel", "message_id"),
    *short("lesson_id", "link"),
    *moment("saved_at"),
    of_episode("lesson_id"),
    Index(None, "workspace", "lesson_id"),
    read_as=SavedMessage,
)
