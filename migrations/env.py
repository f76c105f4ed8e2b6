"""Run by Alembic: connects, and tells it what the declared tables are.

The caller may hand over a connection (`config.attributes["connection"]`); the plain `alembic`
command connects by the URL in `-x url=...`.
"""

from __future__ import annotations

from alembic import context
from alembic.util import CommandError
from sqlalchemy import Connection, NullPool, create_engine

from store.tables import metadata


def _run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=metadata,
        render_as_batch=True,
        transactional_ddl=True,
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


handed_over = context.config.attributes.get("connection")
url = context.get_x_argument(as_dictionary=True).get("url")
if handed_over is not None:
    _run(handed_over)
elif url is not None:
    with create_engine(url, poolclass=NullPool).begin() as connected:
        _run(connected)
else:
    reason = "say which database: alembic -x url=sqlite:///rebind.db ..."
    raise CommandError(reason)
