"""A bounded history: its segments, and the indexes by which retention finds what ended."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

LARGE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make segments; what happened so far is one of them."""
    op.create_table(
        "history_segment",
        sa.Column("first_revision", LARGE, autoincrement=False, nullable=False),
        sa.Column("started_at", LARGE, nullable=False),
        sa.PrimaryKeyConstraint("first_revision", name="pk_history_segment"),
    )
    op.create_index(
        "ix_pod_ended",
        "pod",
        ["ended_revision"],
        sqlite_where=sa.text("ended_revision IS NOT NULL"),
        postgresql_where=sa.text("ended_revision IS NOT NULL"),
    )
    op.create_index(
        "ix_device_holding_ended",
        "device_holding",
        ["until_revision"],
        sqlite_where=sa.text("until_revision IS NOT NULL"),
        postgresql_where=sa.text("until_revision IS NOT NULL"),
    )
    op.execute(
        "INSERT INTO history_segment (first_revision, started_at) "
        "SELECT revision, at FROM change WHERE revision = (SELECT min(revision) FROM change)"
    )


def downgrade() -> None:
    """Drop segments and indexes; the history itself stays."""
    op.drop_index("ix_device_holding_ended")
    op.drop_index("ix_pod_ended")
    op.drop_table("history_segment")
