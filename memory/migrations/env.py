"""What alembic runs for every command. The caller brings the connection, inside a transaction it will commit."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
