"""Nodes, devices, pods, who holds what, and the history."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

LARGE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make all tables."""
    _make_nodes()
    _make_pods()
    _make_holdings()
    _make_history()


def downgrade() -> None:
    """Drop all tables."""
    op.drop_table("device_binding")
    op.drop_table("device_holding")
    op.drop_table("device")
    op.drop_table("container")
    op.drop_table("allocate_response")
    op.drop_table("resource")
    op.drop_table("pod")
    op.drop_table("imported_checkpoint")
    op.drop_table("change")
    op.drop_table("boot")
    op.drop_table("writer_lock")
    op.drop_table("node")
    op.drop_table("change_pod")


def _reference(column: str, target: str, name: str) -> list[sa.ForeignKeyConstraint]:
    """Declare what a column names, where that costs nothing: SQLite does not enforce it.

    PostgreSQL would, and for want of an index it would read whole tables for each dropped row.
    """
    if op.get_context().dialect.name != "sqlite":
        return []
    return [sa.ForeignKeyConstraint([column], [target], name=name)]


def _make_nodes() -> None:
    # A node, its boots, and the devices of its plugins.
    op.create_table(
        "node",
        sa.Column("id", LARGE, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("revision", LARGE, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_node"),
        sa.UniqueConstraint("name", name="uq_node_name"),
    )
    op.create_table(
        "boot",
        sa.Column("id", LARGE, autoincrement=False, nullable=False),
        sa.Column("node_id", LARGE, nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("boot_id", sa.Text(), nullable=False),
        sa.Column("since_revision", LARGE, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_boot"),
        sa.UniqueConstraint("node_id", "generation", name="uq_boot_node_id_generation"),
        *_reference("node_id", "node.id", "fk_boot_node_id"),
    )
    op.create_table(
        "resource",
        sa.Column("id", LARGE, autoincrement=False, nullable=False),
        sa.Column("node_id", LARGE, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("registered", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_resource"),
        sa.UniqueConstraint("node_id", "name", name="uq_resource_node_id_name"),
        *_reference("node_id", "node.id", "fk_resource_node_id"),
    )
    op.create_table(
        "device",
        sa.Column("id", LARGE, autoincrement=False, nullable=False),
        sa.Column("resource_id", LARGE, nullable=False),
        sa.Column("identifier", sa.Text(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=True),
        sa.Column("health", sa.Text(), nullable=True),
        sa.Column("numa_nodes", sa.Text(), nullable=True),
        sa.Column("first_seen_revision", LARGE, nullable=False),
        sa.Column("last_seen_revision", LARGE, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_device"),
        sa.UniqueConstraint("resource_id", "identifier", name="uq_device_resource_id_identifier"),
        *_reference("resource_id", "resource.id", "fk_device_resource_id"),
    )


def _make_pods() -> None:
    # Pods, their containers, and the plugins' answers for them.
    op.create_table(
        "pod",
        sa.Column("id", LARGE, autoincrement=False, nullable=False),
        sa.Column("node_id", LARGE, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("standing", sa.SmallInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("holds_devices", sa.Boolean(), nullable=False),
        sa.Column("ended_revision", LARGE, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_pod"),
        *_reference("node_id", "node.id", "fk_pod_node_id"),
    )
    op.create_index(
        "ix_pod_without_devices",
        "pod",
        ["node_id"],
        sqlite_where=sa.text("ended_revision IS NULL AND NOT holds_devices"),
        postgresql_where=sa.text("ended_revision IS NULL AND NOT holds_devices"),
    )
    op.create_index(
        "uq_pod_ended_uid",
        "pod",
        ["node_id", "uid"],
        unique=True,
        sqlite_where=sa.text("ended_revision IS NOT NULL"),
        postgresql_where=sa.text("ended_revision IS NOT NULL"),
    )
    op.create_table(
        "container",
        sa.Column("pod_id", LARGE, autoincrement=False, nullable=False),
        sa.Column("ordinal", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("pod_id", "ordinal", name="pk_container"),
        *_reference("pod_id", "pod.id", "fk_container_pod_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "allocate_response",
        sa.Column("pod_id", LARGE, autoincrement=False, nullable=False),
        sa.Column("container", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("resource_id", LARGE, autoincrement=False, nullable=False),
        sa.Column("since_revision", LARGE, nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("empty_numa_nodes", sa.Text(), nullable=True),
        sa.Column("response", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("pod_id", "container", "resource_id", name="pk_allocate_response"),
        *_reference("pod_id", "pod.id", "fk_allocate_response_pod_id"),
        *_reference("resource_id", "resource.id", "fk_allocate_response_resource_id"),
        sqlite_with_rowid=False,
    )


def _make_holdings() -> None:
    # Who holds which device; the database itself refuses a second holder.
    op.create_table(
        "device_holding",
        sa.Column("id", LARGE, autoincrement=False, nullable=False),
        sa.Column("device_id", LARGE, nullable=False),
        sa.Column("pod_id", LARGE, nullable=False),
        sa.Column("boot_id", LARGE, nullable=True),
        sa.Column("since_revision", LARGE, nullable=False),
        sa.Column("since_at", LARGE, nullable=False),
        sa.Column("until_revision", LARGE, nullable=True),
        sa.Column("until_at", LARGE, nullable=True),
        sa.Column("disputed", sa.Boolean(), nullable=False),
        sa.CheckConstraint(
            "until_revision >= since_revision", name="ck_device_holding_ends_after_it_began"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_device_holding"),
        *_reference("device_id", "device.id", "fk_device_holding_device_id"),
        *_reference("pod_id", "pod.id", "fk_device_holding_pod_id"),
        *_reference("boot_id", "boot.id", "fk_device_holding_boot_id"),
    )
    op.create_index(
        "uq_device_holding_one_holder",
        "device_holding",
        ["device_id"],
        unique=True,
        sqlite_where=sa.text("until_revision IS NULL AND NOT disputed"),
        postgresql_where=sa.text("until_revision IS NULL AND NOT disputed"),
    )
    op.create_index(
        "ix_device_holding_disputed",
        "device_holding",
        ["device_id"],
        sqlite_where=sa.text("until_revision IS NULL AND disputed"),
        postgresql_where=sa.text("until_revision IS NULL AND disputed"),
    )
    op.create_table(
        "device_binding",
        sa.Column("holding_id", LARGE, autoincrement=False, nullable=False),
        sa.Column("container", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("numa_node", LARGE, nullable=False),
        sa.PrimaryKeyConstraint("holding_id", "container", "ordinal", name="pk_device_binding"),
        *_reference("holding_id", "device_holding.id", "fk_device_binding_holding_id"),
        sqlite_with_rowid=False,
    )


def _make_history() -> None:
    # What happened, imported files, and who writes.
    op.create_table(
        "change",
        sa.Column("revision", LARGE, autoincrement=False, nullable=False),
        sa.Column("at", LARGE, nullable=False),
        sa.Column("node_id", LARGE, nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.Column("pod_id", LARGE, nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("revision", name="pk_change"),
        *_reference("node_id", "node.id", "fk_change_node_id"),
    )
    op.create_table(
        "change_pod",
        sa.Column("revision", LARGE, autoincrement=False, nullable=False),
        sa.Column("pod_id", LARGE, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("revision", "pod_id", name="pk_change_pod"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "imported_checkpoint",
        sa.Column("node_id", LARGE, autoincrement=False, nullable=False),
        sa.Column("revision", LARGE, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("node_id", name="pk_imported_checkpoint"),
        *_reference("node_id", "node.id", "fk_imported_checkpoint_node_id"),
    )
    op.create_table(
        "writer_lock",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.CheckConstraint("id = 1", name="ck_writer_lock_one_row"),
        sa.PrimaryKeyConstraint("id", name="pk_writer_lock"),
    )
