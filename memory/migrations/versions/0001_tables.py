"""The first tables.

A migration is history: it repeats the tables as they were, and takes nothing from the code that changes later.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, Float, LargeBinary, SmallInteger
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

revision = "0001_tables"
down_revision = None
branch_labels = None
depends_on = None

Real = Float(53)
# PostgreSQL sorts text by bytes only if it is told to, as SQLite does; and its integers have 32 bits.
String = sa.String().with_variant(sa.String(collation="C"), "postgresql")
Text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
Integer = sa.Integer().with_variant(BigInteger(), "postgresql")

_MAY_BE_LIMITED = (
    "(role IN ('member', 'guest', 'bot') OR (role != 'admin' AND "
    "substr(source || ':', 1, 11) != 'correction:' AND substr(source || ':', 1, 7) != 'review:'))"
)


def upgrade() -> None:
    _create_episodes()
    _create_log()
    _create_teaching()
    _create_people()
    _create_deliveries()
    _create_conversations()
    _create_retrievals()
    _create_steps()
    _create_topics()
    _create_upkeep()
    _create_administration()
    if op.get_bind().dialect.name == "sqlite":
        _create_lesson_versions()


def _table(name: str, key: str, *parts: SchemaItem, with_rowid: bool = False) -> None:
    primary = sa.PrimaryKeyConstraint(*key.split(), name=f"pk_{name}")
    op.create_table(name, *parts, primary, sqlite_with_rowid=with_rowid)


def _columns(kind: type[TypeEngine[Any]] | TypeEngine[Any], names: str, *, nullable: bool = False) -> list[Column[Any]]:
    return [Column(name, kind, nullable=nullable) for name in names.split()]


def _belongs(name: str, columns: str, table: str, its_columns: str) -> sa.ForeignKeyConstraint:
    """Rows go when the row goes that they refer to."""
    referred = [f"{table}.{column}" for column in its_columns.split()]
    return sa.ForeignKeyConstraint(columns.split(), referred, name=f"fk_{name}_{table}", ondelete="CASCADE")


def _index(table: str, columns: str, name: str = "", *, where: str = "", unique: bool = False) -> None:
    names = columns.split()
    condition = sa.text(where) if where else None
    op.create_index(
        name or f"ix_{table}_{'_'.join(names)}",
        table,
        names,
        unique=unique,
        sqlite_where=condition,
        postgresql_where=condition,
    )


def _create_episodes() -> None:
    _table(
        "episodes",
        "workspace id",
        *_columns(String, "workspace id run_id parent_id node_path"),
        *_columns(Integer, "step_number rep"),
        *_columns(
            String,
            "channel thread person author visibility origin "
            "termination status verdict verdict_personal verdict_channel verdict_workspace verdict_proposed",
        ),
        *_columns(String, "promoted", nullable=True),
        *_columns(Real, "strength nudge salience"),
        *_columns(BigInteger, "salience_at"),
        *_columns(Integer, "retrieval_count used_count ignored_count"),
        *_columns(BigInteger, "created_at"),
        *_columns(BigInteger, "graded_at archived_at", nullable=True),
        *_columns(Integer, "prompt_tokens completion_tokens"),
        *_columns(Real, "cost_usd"),
        *_columns(String, "goal_digest flow action model place"),
        *_columns(
            Text,
            "goal why action_target outcome_reason task_incomplete correction "
            "exemplar_ids output thoughts context_before context_after trajectory",
        ),
        with_rowid=True,
    )
    _index("episodes", "workspace person channel goal_digest parent_id origin rep", "ix_episodes_attempts")
    _index("episodes", "workspace created_at id")
    _index("episodes", "workspace author")
    _index("episodes", "workspace created_at id", "ix_episodes_disputed", where="verdict = 'disputed'")
    _index("episodes", "workspace run_id step_number")
    _table(
        "episode_vectors",
        "workspace episode_id",
        *_columns(String, "workspace episode_id model"),
        *_columns(LargeBinary, "vector"),
        _belongs("episode_vectors", "workspace episode_id", "episodes", "workspace id"),
    )
    _index("episode_vectors", "workspace model")
    _table(
        "quarantines",
        "workspace episode_id",
        *_columns(String, "workspace episode_id"),
        *_columns(Text, "reasons"),
        _belongs("quarantines", "workspace episode_id", "episodes", "workspace id"),
    )
    _table(
        "borrowed_words",
        "workspace episode_id person",
        *_columns(String, "workspace episode_id person"),
        _belongs("borrowed_words", "workspace episode_id", "episodes", "workspace id"),
    )
    _index("borrowed_words", "workspace person")
    _table(
        "recall_index",
        "workspace partition seq",
        *_columns(String, "workspace partition"),
        *_columns(BigInteger, "seq"),
        *_columns(String, "episode_id audience verdict action words author model"),
        *_columns(LargeBinary, "vector", nullable=True),
        sa.UniqueConstraint(
            "workspace", "episode_id", "partition", name="uq_recall_index_workspace_episode_id_partition"
        ),
    )
    _table(
        "links",
        "workspace from_id to_id kind",
        *_columns(String, "workspace from_id to_id kind"),
        *_columns(BigInteger, "at"),
        *_columns(Real, "weight"),
        _belongs("links_from", "workspace from_id", "episodes", "workspace id"),
        _belongs("links_to", "workspace to_id", "episodes", "workspace id"),
    )
    _index("links", "workspace to_id kind")


def _create_log() -> None:
    _table(
        "events",
        "workspace seq",
        *_columns(String, "workspace"),
        *_columns(BigInteger, "seq"),
        *_columns(String, "episode_id kind actor"),
        *_columns(BigInteger, "at"),
        *_columns(String, "source_event_id"),
        *_columns(Text, "detail"),
        with_rowid=True,
    )
    _index("events", "workspace actor seq")
    _index("events", "workspace episode_id seq")
    _index("events", "workspace kind seq")
    _index("events", "workspace episode_id seq", "ix_events_gradings", where="kind IN ('graded', 'regraded')")
    _index(
        "events",
        "workspace source_event_id episode_id kind",
        "uq_events_source",
        where="source_event_id != ''",
        unique=True,
    )
    _table(
        "processed_events",
        "workspace event_digest",
        *_columns(String, "workspace event_digest"),
        *_columns(BigInteger, "at"),
    )
    _table(
        "counters",
        "workspace name",
        *_columns(String, "workspace name"),
        *_columns(BigInteger, "value"),
    )


def _create_teaching() -> None:
    _table(
        "reactions",
        "workspace channel message_id node_id actor source",
        *_columns(String, "workspace channel message_id node_id actor source"),
        *_columns(SmallInteger, "value"),
        *_columns(String, "role"),
        *_columns(BigInteger, "at"),
        *_columns(String, "run_id"),
        *_columns(Boolean, "is_active"),
        *_columns(BigInteger, "seq"),
        *_columns(String, "event_id"),
    )
    _index("reactions", "workspace actor")
    _index("reactions", "workspace run_id")
    _table(
        "votes",
        "workspace run_id node_id actor",
        *_columns(String, "workspace run_id node_id actor role"),
        *_columns(SmallInteger, "value"),
        *_columns(BigInteger, "at"),
        *_columns(String, "source event_id"),
        *_columns(Boolean, "is_limited"),
        *_columns(String, "standing"),
    )
    _index("votes", "workspace actor at")
    _index("votes", "workspace role at")
    _index("votes", "workspace actor at", "ix_votes_that_may_be_limited", where=_MAY_BE_LIMITED)
    _table(
        "trust_evidence",
        "workspace run_id node_id actor",
        *_columns(String, "workspace run_id node_id actor"),
        *_columns(Boolean, "agrees"),
    )
    _index("trust_evidence", "workspace actor")
    _table(
        "trust_records",
        "workspace actor",
        *_columns(String, "workspace actor"),
        *_columns(Integer, "right wrong"),
    )
    _table(
        "ledger",
        "workspace channel message_id",
        *_columns(String, "workspace channel message_id run_id"),
        *_columns(Integer, "part"),
        *_columns(BigInteger, "posted_at expires_at"),
    )
    _index("ledger", "expires_at")
    _index("ledger", "workspace channel posted_at")
    _index("ledger", "workspace run_id")


def _create_people() -> None:
    _table(
        "people",
        "workspace person",
        *_columns(String, "workspace person"),
        *_columns(BigInteger, "known_from"),
    )
    _table(
        "welcomes",
        "workspace person channel",
        *_columns(String, "workspace person channel"),
        *_columns(BigInteger, "at"),
    )
    _table(
        "judgements",
        "workspace run_id actor",
        *_columns(String, "workspace run_id actor"),
        *_columns(BigInteger, "at"),
        *_columns(Integer, "confidence"),
        *_columns(Boolean, "is_right is_known"),
    )
    _index("judgements", "workspace at")
    _table(
        "thresholds",
        "workspace",
        *_columns(String, "workspace"),
        *_columns(Real, "budget value"),
    )
    _table(
        "saved_messages",
        "workspace channel message_id",
        *_columns(String, "workspace channel message_id lesson_id link"),
        *_columns(BigInteger, "saved_at"),
        _belongs("saved_messages", "workspace lesson_id", "episodes", "workspace id"),
    )
    _index("saved_messages", "workspace lesson_id")


def _create_deliveries() -> None:
    _table(
        "channels",
        "workspace channel",
        *_columns(String, "workspace channel visibility"),
        *_columns(BigInteger, "since"),
    )
    _table(
        "incoming",
        "workspace event_id",
        *_columns(String, "workspace event_id channel message_id thread person visibility progress"),
        *_columns(BigInteger, "at"),
        *_columns(String, "run_id place"),
        *_columns(Integer, "crashes kills"),
        *_columns(String, "reply_to held_by turn"),
        *_columns(Text, "text understood"),
        with_rowid=True,
    )
    _index("incoming", "progress workspace at")
    _index("incoming", "workspace person channel at")
    _index("incoming", "workspace channel thread at")
    _index("incoming", "workspace run_id")
    _index("incoming", "workspace channel message_id", "uq_incoming_message", where="message_id != ''", unique=True)
    _table(
        "incoming_askers",
        "workspace event_id",
        *_columns(String, "workspace event_id person"),
        _belongs("incoming_askers", "workspace event_id", "incoming", "workspace event_id"),
    )
    _index("incoming_askers", "workspace person")
    _table(
        "incoming_taps",
        "workspace event_id",
        *_columns(String, "workspace event_id asked_run_id"),
        *_columns(Integer, "number"),
        *_columns(String, "role"),
        _belongs("incoming_taps", "workspace event_id", "incoming", "workspace event_id"),
    )
    _index("incoming_taps", "workspace asked_run_id")
    _table(
        "outgoing",
        "workspace run_id part",
        *_columns(String, "workspace run_id"),
        *_columns(Integer, "part"),
        *_columns(String, "channel thread message_id"),
        *_columns(BigInteger, "sent_at", nullable=True),
        *_columns(Text, "text"),
        with_rowid=True,
    )
    _index("outgoing", "workspace channel thread")
    _index("outgoing", "sent_at workspace run_id", "ix_outgoing_unsent", where="sent_at IS NULL")


def _create_conversations() -> None:
    _table(
        "fresh_starts",
        "workspace person channel",
        *_columns(String, "workspace person channel"),
        *_columns(BigInteger, "at"),
    )
    _table(
        "muted_threads",
        "workspace channel thread",
        *_columns(String, "workspace channel thread"),
        *_columns(BigInteger, "since"),
    )


def _create_retrievals() -> None:
    _table(
        "retrievals",
        "workspace id",
        *_columns(String, "workspace id run_id node_path"),
        *_columns(BigInteger, "at"),
        *_columns(Text, "counts goal"),
        *_columns(Text, "evidence", nullable=True),
        *_columns(Boolean, "is_control"),
        with_rowid=True,
    )
    _index("retrievals", "workspace run_id")
    _table(
        "retrieval_items",
        "workspace retrieval_id episode_id",
        *_columns(String, "workspace retrieval_id episode_id"),
        *_columns(Integer, "rank"),
        *_columns(String, "lesson"),
        *_columns(Real, "context_score intent_score relevance"),
        *_columns(String, "signal", nullable=True),
        *_columns(Real, "ratio"),
        _belongs("retrieval_items", "workspace retrieval_id", "retrievals", "workspace id"),
    )
    _index("retrieval_items", "workspace episode_id")


def _create_steps() -> None:
    _table(
        "session_runs",
        "workspace person session_id partition run_id",
        *_columns(String, "workspace person partition session_id run_id node_run root_id"),
        *_columns(Integer, "rep"),
        *_columns(Boolean, "is_evaluation"),
        *_columns(BigInteger, "started_at"),
        *_columns(Text, "task"),
    )
    _table(
        "steps",
        "workspace episode_id",
        *_columns(String, "workspace episode_id person session_id run_id"),
        *_columns(Integer, "number"),
        *_columns(String, "step_id"),
        *_columns(Text, "action element_text internal_state env_pre env_post embedding"),
        _belongs("steps", "workspace episode_id", "episodes", "workspace id"),
    )
    _index("steps", "workspace person session_id number")
    _table(
        "step_grades",
        "workspace seq",
        *_columns(String, "workspace"),
        *_columns(BigInteger, "seq"),
        *_columns(String, "episode_id actor source grader"),
        *_columns(Boolean, "is_correct"),
        *_columns(Real, "confidence"),
        *_columns(BigInteger, "at"),
        *_columns(Text, "explanation correction"),
        _belongs("step_grades", "workspace episode_id", "episodes", "workspace id"),
        with_rowid=True,
    )
    _index("step_grades", "workspace actor")
    _index("step_grades", "workspace episode_id seq")
    _table(
        "short_memories",
        "workspace kind key",
        *_columns(String, "workspace kind key person"),
        *_columns(BigInteger, "created_at expires_at"),
        *_columns(Text, "value"),
    )
    _index("short_memories", "expires_at")
    _index("short_memories", "workspace person")


def _create_topics() -> None:
    _table(
        "topics",
        "workspace id",
        *_columns(String, "workspace id partition person"),
        *_columns(BigInteger, "seq created_at"),
        *_columns(Real, "first_salience failed_salience salience"),
        *_columns(BigInteger, "salience_at"),
        *_columns(BigInteger, "archived_at", nullable=True),
        *_columns(String, "merged_into alias"),
        *_columns(Text, "topic_kind title summary", nullable=True),
        with_rowid=True,
    )
    _index("topics", "workspace merged_into")
    _index("topics", "workspace partition seq")
    _index("topics", "workspace partition title")
    _index("topics", "workspace person")
    _table(
        "topic_places",
        "workspace topic_id",
        *_columns(String, "workspace topic_id channel visibility"),
        _belongs("topic_places_topic_id", "workspace topic_id", "topics", "workspace id"),
    )
    _table(
        "topic_vectors",
        "workspace topic_id",
        *_columns(String, "workspace topic_id model"),
        *_columns(LargeBinary, "vector"),
        _belongs("topic_vectors_topic_id", "workspace topic_id", "topics", "workspace id"),
    )
    _table(
        "topic_fields",
        "workspace topic_id name",
        *_columns(String, "workspace topic_id name person field_type"),
        *_columns(String, "ref_topic_id", nullable=True),
        _belongs("topic_fields_topic_id", "workspace topic_id", "topics", "workspace id"),
    )
    _table(
        "topic_revisions",
        "workspace topic_id name person id",
        *_columns(String, "workspace id topic_id name"),
        *_columns(BigInteger, "seq"),
        *_columns(String, "person"),
        *_columns(BigInteger, "valid_from"),
        *_columns(Text, "value"),
        *_columns(Text, "provenance why_changed impact_expected", nullable=True),
        _belongs("topic_revisions", "workspace topic_id name", "topic_fields", "workspace topic_id name"),
        with_rowid=True,
    )
    _index("topic_revisions", "workspace person")
    _table(
        "topic_links",
        "workspace from_id to_id kind",
        *_columns(String, "workspace from_id to_id kind person"),
        *_columns(BigInteger, "at"),
        _belongs("topic_links_from_id", "workspace from_id", "topics", "workspace id"),
        _belongs("topic_links_to_id", "workspace to_id", "topics", "workspace id"),
    )
    _index("topic_links", "workspace to_id")
    _table(
        "topic_events",
        "workspace seq",
        *_columns(String, "workspace"),
        *_columns(BigInteger, "seq"),
        *_columns(String, "topic_id kind actor"),
        *_columns(BigInteger, "at"),
        *_columns(Text, "detail"),
        _belongs("topic_events_topic_id", "workspace topic_id", "topics", "workspace id"),
        with_rowid=True,
    )
    _index("topic_events", "workspace actor")
    _index("topic_events", "workspace seq", "ix_topic_events_changes", where="kind != 'salience'")
    _index("topic_events", "workspace topic_id seq")


def _create_upkeep() -> None:
    _table(
        "leases",
        "name",
        *_columns(String, "name owner"),
        *_columns(BigInteger, "until"),
    )
    _table(
        "job_runs",
        "name",
        *_columns(String, "name"),
        *_columns(BigInteger, "started_at finished_at"),
        *_columns(Text, "summary error"),
    )
    _table(
        "rules",
        "workspace id",
        *_columns(String, "workspace id partition verdict"),
        *_columns(Text, "lesson_ids"),
    )
    _table(
        "erasures",
        "workspace id",
        *_columns(String, "workspace id person"),
    )


def _create_administration() -> None:
    _table(
        "settings",
        "workspace channel name",
        *_columns(String, "workspace channel name value changed_by"),
        *_columns(BigInteger, "at"),
    )
    _table(
        "api_keys",
        "workspace name",
        *_columns(String, "workspace name digest right channel made_by"),
        *_columns(BigInteger, "made_at"),
        *_columns(String, "revoked_by"),
        *_columns(BigInteger, "revoked_at", nullable=True),
    )
    _index("api_keys", "workspace digest", unique=True)
    _table(
        "batches",
        "workspace id",
        *_columns(String, "workspace id name digest actor"),
        *_columns(BigInteger, "at"),
        *_columns(BigInteger, "undone_at", nullable=True),
    )
    _table(
        "batch_lessons",
        "workspace key",
        *_columns(String, "workspace key batch_id lesson_id audience source"),
        sa.ForeignKeyConstraint(
            ["workspace", "batch_id"], ["batches.workspace", "batches.id"], name="fk_batch_lessons_batches"
        ),
    )
    _index("batch_lessons", "workspace batch_id lesson_id")
    _index("batch_lessons", "workspace lesson_id")


_WEIGHED = {
    "episodes": "run_id parent_id author origin termination action goal output correction trajectory created_at "
    "graded_at archived_at",
    "votes": "node_id actor role value source is_limited standing",
    "trust_records": "right wrong",
    "links": "from_id to_id kind",
    "thresholds": "budget value",
    "settings": "channel name value changed_by at",
    "rules": "id",
}
_MARK = (
    "INSERT INTO lesson_versions SELECT ROW.workspace, 0 "
    "WHERE NOT EXISTS (SELECT 1 FROM lesson_versions WHERE workspace = ROW.workspace); "
    "UPDATE lesson_versions SET mark = random() WHERE workspace = ROW.workspace;"
)


def _create_lesson_versions() -> None:
    """What marks each change of what lessons are weighed by."""
    _table("lesson_versions", "workspace", *_columns(String, "workspace"), *_columns(BigInteger, "mark"))
    for table, names in _WEIGHED.items():
        changes = " OR ".join(f"OLD.{name} IS NOT NEW.{name}" for name in names.split())
        given = {"INSERT": "1", "DELETE": "1", f"UPDATE OF {', '.join(names.split())}": changes}
        for change, condition in given.items():
            kind = change.split()[0]
            if (table, kind) == ("episodes", "INSERT"):
                continue  # a new one is not known to anybody
            mark = _MARK.replace("ROW", "OLD" if kind == "DELETE" else "NEW")
            name = f"mark_{table}_{kind.lower()}"
            op.execute(f"CREATE TRIGGER {name} AFTER {change} ON {table} WHEN {condition} BEGIN {mark} END")
