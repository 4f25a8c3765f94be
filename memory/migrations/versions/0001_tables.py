"""The tables of the first release. A new database gets the newest from the code; steps to later ones follow here."""

revision = "0001_tables"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: no database is older."""
