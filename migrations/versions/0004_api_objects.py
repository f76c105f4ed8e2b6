"""Objects of an API server, and a history that counts its changes apart from theirs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from alembic.util import CommandError

revision = "0004"
down_revision = "0003"

LARGE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
IN_BYTES = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables; until now every revision was a change of the history."""
    counted = sa.Column("first_change", LARGE, nullable=False)
    _remake_segments([counted], "first_revision, started_at, first_revision")
    op.create_table(
        "api_collection",
        sa.Column("id", LARGE, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_api_collection"),
        sa.UniqueConstraint("name", name="uq_api_collection_name"),
    )
    op.create_table(
        "api_change",
        sa.Column("revision", LARGE, autoincrement=False, nullable=False),
        sa.Column("at", LARGE, nullable=False),
        sa.Column("collection_id", LARGE, nullable=False),
        sa.Column("namespace", IN_BYTES, nullable=False),
        sa.Column("name", IN_BYTES, nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("previous_revision", LARGE, nullable=True),
        sa.Column("revision_offset", sa.Integer(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("revision", name="pk_api_change"),
        *_reference("collection_id", "api_collection.id", "fk_api_change_collection_id"),
    )
    op.create_table(
        "api_object",
        sa.Column("collection_id", LARGE, autoincrement=False, nullable=False),
        sa.Column("namespace", IN_BYTES, nullable=False),
        sa.Column("name", IN_BYTES, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("revision", LARGE, nullable=False),
        sa.Column("expires_at", LARGE, nullable=True),
        sa.PrimaryKeyConstraint("collection_id", "namespace", "name", name="pk_api_object"),
        *_reference("collection_id", "api_collection.id", "fk_api_object_collection_id"),
        *_reference("revision", "api_change.revision", "fk_api_object_revision"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_api_object_expires",
        "api_object",
        ["expires_at"],
        sqlite_where=sa.text("expires_at IS NOT NULL"),
        postgresql_where=sa.text("expires_at IS NOT NULL"),
    )
    op.create_table(
        "api_horizon",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("revision", LARGE, nullable=False),
        sa.CheckConstraint("id = 1", name="ck_api_horizon_one_row"),
        sa.PrimaryKeyConstraint("id", name="pk_api_horizon"),
    )


def downgrade() -> None:
    """Drop the objects; a program of that schema serves none.

    Raises:
        CommandError: There are some, besides namespaces, which an API server makes by itself.
    """
    kept = (
        "SELECT api_collection.name FROM api_object "
        "JOIN api_collection ON api_collection.id = api_object.collection_id "
        "WHERE api_collection.name <> 'namespaces' ORDER BY api_collection.name LIMIT 1"
    )
    name = op.get_bind().scalar(sa.text(kept))
    if name is not None:
        reason = (
            f"the database has {name} of an API server, which schema {down_revision} does not "
            f"know; delete them first: kubectl delete {name} --all --all-namespaces"
        )
        raise CommandError(reason)
    op.drop_table("api_horizon")
    op.drop_table("api_object")
    op.drop_table("api_change")
    op.drop_table("api_collection")
    _remake_segments([], "first_revision, started_at")


def _reference(column: str, target: str, name: str) -> list[sa.ForeignKeyConstraint]:
    """Declare what a column names; as in the first revision, SQLite only."""
    if op.get_context().dialect.name != "sqlite":
        return []
    return [sa.ForeignKeyConstraint([column], [target], name=name)]


def _remake_segments(more: list[sa.Column[int]], columns: str) -> None:
    """Make the table of segments anew with these columns; it has few rows."""
    rows = op.get_bind().execute(sa.text(f"SELECT {columns} FROM history_segment")).all()  # noqa: S608  constant
    op.drop_table("history_segment")
    segments = op.create_table(
        "history_segment",
        sa.Column("first_revision", LARGE, autoincrement=False, nullable=False),
        sa.Column("started_at", LARGE, nullable=False),
        *more,
        sa.PrimaryKeyConstraint("first_revision", name="pk_history_segment"),
    )
    names = [column.name for column in segments.columns]
    op.bulk_insert(segments, [dict(zip(names, row, strict=True)) for row in rows])
