"""How far the migration of a node between its checkpoint file and the database is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

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
    """Drop the phases; a program of that schema migrates no node."""
    op.drop_table("node_phase")
