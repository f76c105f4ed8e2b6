"""How far the migration of a node between its checkpoint file and the database is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from alembic.util import CommandError

revision = "0003"
down_revision = "0002"

LARGE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table; no migration was begun before there were phases."""
    reference = sa.ForeignKeyConstraint(["node_id"], ["node.id"], name="fk_node_phase_node_id")
    is_sqlite = op.get_context().dialect.name == "sqlite"
    op.create_table(
        "node_phase",
        sa.Column("node_id", LARGE, autoincrement=False, nullable=False),
        sa.Column("phase", sa.SmallInteger(), nullable=False),
        sa.Column("since_revision", LARGE, nullable=False),
        sa.PrimaryKeyConstraint("node_id", name="pk_node_phase"),
        *([reference] if is_sqlite else []),
    )


def downgrade() -> None:
    """Drop the phases; a program of that schema migrates no node.

    A node that has left its file behind would be taken for one that has not, and what its file said
    long ago would count.

    Raises:
        CommandError: A node is not back at its file.
    """
    begun = (
        "SELECT node.name FROM node_phase JOIN node ON node.id = node_phase.node_id "
        "WHERE node_phase.phase <> 1 ORDER BY node.name LIMIT 1"
    )
    name = op.get_bind().scalar(sa.text(begun))
    if name is not None:
        reason = (
            f"node {name} is on its way between file and database, which schema {down_revision} "
            f"does not know; take it back first: rebind migrate back --node {name}"
        )
        raise CommandError(reason)
    op.drop_table("node_phase")
