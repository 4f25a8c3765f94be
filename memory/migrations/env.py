"""The environment script of alembic. The caller passes the connection, in a transaction that the caller commits."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
