"""The tables of the first release, which the code creates. Steps to later releases follow this one."""

revision = "0001_tables"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Does nothing: no database is older."""
