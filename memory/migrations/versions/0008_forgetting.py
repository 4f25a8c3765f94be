"""The tables of forgetting: whose words a question is, erasures under way, and handled events without their ids."""

from hashlib import blake2b

import sqlalchemy as sa
from alembic import op
from sqlalchemy import BigInteger, Column, String

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_CLAIMS = sa.table("processed_events", sa.column("workspace"), sa.column("event_digest"), sa.column("at"))

# A question tried again has its words from the first answer with the same ones in its channel.
_RETRIES = """
INSERT INTO incoming_askers (workspace, event_id, person)
SELECT workspace, event_id, asker FROM (
    SELECT again.workspace, again.event_id, again.person, (
        SELECT first.person FROM episodes AS first
        WHERE first.workspace = again.workspace AND first.channel = again.channel AND first.parent_id = ''
            AND first.origin = 'run' AND first.goal = again.text AND first.run_id != again.run_id
        ORDER BY first.created_at, first.id LIMIT 1
    ) AS asker
    FROM incoming AS again WHERE again.message_id LIKE 'retry/%'
) AS found WHERE asker IS NOT NULL AND asker != person
"""
_RETRIED = """
INSERT INTO borrowed_words (workspace, episode_id, person)
SELECT node.workspace, node.id, asker.person FROM incoming_askers AS asker
JOIN incoming AS again ON again.workspace = asker.workspace AND again.event_id = asker.event_id
JOIN episodes AS node ON node.workspace = again.workspace AND node.run_id = again.run_id AND again.run_id != ''
"""
# A correction has the words of the answer it corrects, which may be a correction itself: of the first in the chain.
_CORRECTIONS = """
WITH RECURSIVE chain (workspace, lesson_id, failed_id) AS (
    SELECT workspace, from_id, to_id FROM links WHERE kind = 'corrects'
    UNION
    SELECT chain.workspace, chain.lesson_id, link.to_id FROM chain
    JOIN links AS link ON link.workspace = chain.workspace AND link.from_id = chain.failed_id AND link.kind = 'corrects'
)
INSERT OR IGNORE INTO borrowed_words (workspace, episode_id, person)
SELECT workspace, id, asker FROM (
    SELECT lesson.workspace, lesson.id, lesson.author, coalesce(known.person, first.author) AS asker
    FROM chain
    JOIN episodes AS lesson ON lesson.workspace = chain.workspace AND lesson.id = chain.lesson_id
    JOIN episodes AS first ON first.workspace = chain.workspace AND first.id = chain.failed_id
    LEFT JOIN borrowed_words AS known ON known.workspace = first.workspace AND known.episode_id = first.id
    WHERE NOT EXISTS (
        SELECT 1 FROM links AS further
        WHERE further.workspace = first.workspace AND further.from_id = first.id AND further.kind = 'corrects'
    )
) AS found WHERE asker != author AND asker != ''
"""
# Where the answer is gone, so is the link: its words are those of whoever sent them first.
_ORPHANS = """
INSERT OR IGNORE INTO borrowed_words (workspace, episode_id, person)
SELECT workspace, id, asker FROM (
    SELECT lesson.workspace, lesson.id, lesson.author, (
        SELECT said.person FROM incoming AS said
        WHERE said.workspace = lesson.workspace AND said.channel = lesson.channel AND said.text = lesson.goal
        ORDER BY said.at, said.event_id LIMIT 1
    ) AS asker
    FROM episodes AS lesson
    WHERE lesson.origin = 'correction' AND NOT EXISTS (
        SELECT 1 FROM links AS link
        WHERE link.workspace = lesson.workspace AND link.from_id = lesson.id AND link.kind = 'corrects'
    )
) AS found WHERE asker IS NOT NULL AND asker != author
"""


def upgrade() -> None:
    _create_words("borrowed_words", "episode_id", ["person"], "episodes", "id")
    _create_words("incoming_askers", "event_id", [], "incoming", "event_id")
    op.create_table(
        "erasures",
        Column("workspace", String, nullable=False),
        Column("id", String, nullable=False),
        Column("person", String, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_erasures"),
        sqlite_with_rowid=False,
    )
    for statement in (_RETRIES, _RETRIED, _CORRECTIONS, _ORPHANS):
        op.execute(statement)
    _digest_claims()


def downgrade() -> None:
    for table in ("erasures", "incoming_askers", "borrowed_words"):
        op.drop_table(table)
    op.drop_table("processed_events")
    _create_claims("source_event_id")


def _create_words(name: str, key: str, more: list[str], table: str, its_key: str) -> None:
    op.create_table(
        name,
        Column("workspace", String, nullable=False),
        Column(key, String, nullable=False),
        Column("person", String, nullable=False),
        sa.PrimaryKeyConstraint("workspace", key, *more, name=f"pk_{name}"),
        sa.ForeignKeyConstraint(
            ["workspace", key],
            [f"{table}.workspace", f"{table}.{its_key}"],
            name=f"fk_{name}_{table}",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(f"ix_{name}_workspace_person", name, ["workspace", "person"])


def _digest_claims() -> None:
    known = op.get_bind().execute(sa.text("SELECT workspace, source_event_id, at FROM processed_events")).all()
    op.drop_table("processed_events")
    _create_claims("event_digest")
    rows = [{"workspace": w, "event_digest": _digest(w, event), "at": at} for w, event, at in known]
    if rows:
        op.bulk_insert(_CLAIMS, rows)
        # The ids are still in the free space of the files.
        op.execute("INSERT INTO erasures (workspace, id, person) VALUES ('', '0008', '')")


def _create_claims(key: str) -> None:
    op.create_table(
        "processed_events",
        Column("workspace", String, nullable=False),
        Column(key, String, nullable=False),
        Column("at", BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", key, name="pk_processed_events"),
        sqlite_with_rowid=False,
    )


def _digest(workspace: str, event: str) -> str:
    return blake2b(f"{workspace}\0{event}".encode(), digest_size=16).hexdigest()
