"""The tables of the database, declared once; `migrations` has the same as numbered revisions.

Keys are integers that the one writer assigns itself, in ascending order, so that with an admission
everything but the one index of holders grows at its end. Child tables are clustered under their
parent's key, which costs one page less for each commit than an index beside them would. Times are
nanoseconds (`Instant`), revisions are those of `change`.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)

SCHEMA_REVISION: Final = "0004"
"""The revision that this program reads and writes: the newest one in `migrations/versions`."""

LARGE: Final = BigInteger().with_variant(Integer, "sqlite")
"""64 bits everywhere; SQLite makes a key its row id only when the type is spelled INTEGER."""

IN_BYTES: Final = Text().with_variant(Text(collation="C"), "postgresql")
"""Text in the order of its UTF-8 bytes, whatever the database's collation."""

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

node = Table(
    "node",
    metadata,
    Column("id", LARGE, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
    Column("revision", LARGE, nullable=False),
)

boot = Table(
    "boot",
    metadata,
    Column("id", LARGE, primary_key=True, autoincrement=False),
    Column("node_id", LARGE, ForeignKey("node.id"), nullable=False),
    Column("generation", Integer, nullable=False),
    Column("boot_id", Text, nullable=False),
    Column("since_revision", LARGE, nullable=False),
    UniqueConstraint("node_id", "generation"),
)

resource = Table(
    "resource",
    metadata,
    Column("id", LARGE, primary_key=True, autoincrement=False),
    Column("node_id", LARGE, ForeignKey("node.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("registered", Boolean, nullable=False),
    UniqueConstraint("node_id", "name"),
)

device = Table(
    "device",
    metadata,
    Column("id", LARGE, primary_key=True, autoincrement=False),
    Column("resource_id", LARGE, ForeignKey("resource.id"), nullable=False),
    Column("identifier", Text, nullable=False),
    # Place in the plugin's latest list; null when the device is not in it.
    Column("slot", Integer),
    # Null while no plugin has said it: the device is known from a checkpoint or a holding only.
    Column("health", Text),
    # NUMA nodes joined by commas; null without a topology message, empty for one without nodes.
    Column("numa_nodes", Text),
    Column("first_seen_revision", LARGE, nullable=False),
    # Set when the device left the plugin's list.
    Column("last_seen_revision", LARGE),
    UniqueConstraint("resource_id", "identifier"),
)

pod = Table(
    "pod",
    metadata,
    Column("id", LARGE, primary_key=True, autoincrement=False),
    Column("node_id", LARGE, ForeignKey("node.id"), nullable=False),
    Column("uid", Text, nullable=False),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("standing", SmallInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("holds_devices", Boolean, nullable=False),
    # The change with which the pod left the node's state; null while it is part of it.
    Column("ended_revision", LARGE),
)

container = Table(
    "container",
    metadata,
    Column("pod_id", LARGE, ForeignKey("pod.id"), primary_key=True, autoincrement=False),
    Column("ordinal", SmallInteger, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    sqlite_with_rowid=False,
)

device_holding = Table(
    "device_holding",
    metadata,
    Column("id", LARGE, primary_key=True, autoincrement=False),
    Column("device_id", LARGE, ForeignKey("device.id"), nullable=False),
    Column("pod_id", LARGE, ForeignKey("pod.id"), nullable=False),
    Column("boot_id", LARGE, ForeignKey("boot.id")),
    Column("since_revision", LARGE, nullable=False),
    Column("since_at", LARGE, nullable=False),
    Column("until_revision", LARGE),
    Column("until_at", LARGE),
    Column("disputed", Boolean, nullable=False),
    CheckConstraint(
        "until_revision >= since_revision", name="ck_device_holding_ends_after_it_began"
    ),
)

ONE_HOLDER: Final = Index(
    "uq_device_holding_one_holder",
    device_holding.c.device_id,
    unique=True,
    sqlite_where=text("until_revision IS NULL AND NOT disputed"),
    postgresql_where=text("until_revision IS NULL AND NOT disputed"),
)
"""The database itself refuses a second pod for a device."""

Index(
    "ix_device_holding_disputed",
    device_holding.c.device_id,
    sqlite_where=text("until_revision IS NULL AND disputed"),
    postgresql_where=text("until_revision IS NULL AND disputed"),
)
Index(
    "ix_device_holding_ended",
    device_holding.c.until_revision,
    sqlite_where=text("until_revision IS NOT NULL"),
    postgresql_where=text("until_revision IS NOT NULL"),
)
# A node's pods are found by what they hold; those that hold nothing need an index of their own.
Index(
    "ix_pod_without_devices",
    pod.c.node_id,
    sqlite_where=text("ended_revision IS NULL AND NOT holds_devices"),
    postgresql_where=text("ended_revision IS NULL AND NOT holds_devices"),
)
# The writer knows the pods that are part of a node's state; of the others it learns from here. An
# index of all pods would cost an admission more than any other row.
Index(
    "uq_pod_ended_uid",
    pod.c.node_id,
    pod.c.uid,
    unique=True,
    sqlite_where=text("ended_revision IS NOT NULL"),
    postgresql_where=text("ended_revision IS NOT NULL"),
)
Index(
    "ix_pod_ended",
    pod.c.ended_revision,
    sqlite_where=text("ended_revision IS NOT NULL"),
    postgresql_where=text("ended_revision IS NOT NULL"),
)

device_binding = Table(
    "device_binding",
    metadata,
    Column(
        "holding_id", LARGE, ForeignKey("device_holding.id"), primary_key=True, autoincrement=False
    ),
    # The container's ordinal in the holding's pod.
    Column("container", SmallInteger, primary_key=True, autoincrement=False),
    # Place among the ids that the container has of this resource.
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("numa_node", LARGE, nullable=False),
    sqlite_with_rowid=False,
)

allocate_response = Table(
    "allocate_response",
    metadata,
    Column("pod_id", LARGE, ForeignKey("pod.id"), primary_key=True, autoincrement=False),
    Column("container", SmallInteger, primary_key=True, autoincrement=False),
    Column("resource_id", LARGE, ForeignKey("resource.id"), primary_key=True, autoincrement=False),
    # Bindings are listed in order of (since_revision, ordinal).
    Column("since_revision", LARGE, nullable=False),
    Column("ordinal", Integer, nullable=False),
    # NUMA nodes, joined by commas, under which the binding has an empty list of ids.
    Column("empty_numa_nodes", Text),
    Column("response", LargeBinary),
    sqlite_with_rowid=False,
)

change = Table(
    "change",
    metadata,
    Column("revision", LARGE, primary_key=True, autoincrement=False),
    Column("at", LARGE, nullable=False),
    Column("node_id", LARGE, ForeignKey("node.id"), nullable=False),
    Column("kind", SmallInteger, nullable=False),
    Column("pod_id", LARGE),
    Column("detail", Text, nullable=False),
)

change_pod = Table(
    "change_pod",
    metadata,
    Column("revision", LARGE, primary_key=True, autoincrement=False),
    Column("pod_id", LARGE, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)
"""The pods of a change that concerns several."""

history_segment = Table(
    "history_segment",
    metadata,
    Column("first_revision", LARGE, primary_key=True, autoincrement=False),
    Column("started_at", LARGE, nullable=False),
    # The how manieth change ever its first one is: revisions are those of objects too.
    Column("first_change", LARGE, nullable=False),
)
"""Where each segment of the history begins; retention drops whole segments."""

imported_checkpoint = Table(
    "imported_checkpoint",
    metadata,
    Column("node_id", LARGE, ForeignKey("node.id"), primary_key=True, autoincrement=False),
    Column("revision", LARGE, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

node_phase = Table(
    "node_phase",
    metadata,
    Column("node_id", LARGE, ForeignKey("node.id"), primary_key=True, autoincrement=False),
    Column("phase", SmallInteger, nullable=False),
    Column("since_revision", LARGE, nullable=False),
)
"""How far the migration of a node between file and database is, if one was ever begun."""

api_collection = Table(
    "api_collection",
    metadata,
    Column("id", LARGE, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
)

api_change = Table(
    "api_change",
    metadata,
    Column("revision", LARGE, primary_key=True, autoincrement=False),
    Column("at", LARGE, nullable=False),
    Column("collection_id", LARGE, ForeignKey("api_collection.id"), nullable=False),
    Column("namespace", IN_BYTES, nullable=False),
    Column("name", IN_BYTES, nullable=False),
    Column("kind", SmallInteger, nullable=False),
    # The change before of the same object; null for the one that made it.
    Column("previous_revision", LARGE),
    # Where in the body the digits of its revision begin.
    Column("revision_offset", Integer),
    # The object's JSON; null for a deletion, which has the one before with another revision.
    Column("body", LargeBinary),
)
"""Every change of every object, for watches; the newest one of an object is the object.

So a write has its JSON written once. Retention drops what a newer change has replaced.
"""

api_object = Table(
    "api_object",
    metadata,
    Column(
        "collection_id",
        LARGE,
        ForeignKey("api_collection.id"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("namespace", IN_BYTES, primary_key=True),
    Column("name", IN_BYTES, primary_key=True),
    Column("uid", Text, nullable=False),
    Column("revision", LARGE, ForeignKey("api_change.revision"), nullable=False),
    Column("expires_at", LARGE),
    sqlite_with_rowid=False,
)
"""The objects that there are, in the order in which they are listed."""

Index(
    "ix_api_object_expires",
    api_object.c.expires_at,
    sqlite_where=text("expires_at IS NOT NULL"),
    postgresql_where=text("expires_at IS NOT NULL"),
)

api_horizon = Table(
    "api_horizon",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("revision", LARGE, nullable=False),
    CheckConstraint("id = 1", name="ck_api_horizon_one_row"),
)
"""After which revision all changes of objects are known; without a row it is 0."""

writer_lock = Table(
    "writer_lock",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("holder", Text, nullable=False),
    CheckConstraint("id = 1", name="ck_writer_lock_one_row"),
)
"""Who writes this database; whether that process still lives is the lock file's matter."""

# References are declared for joins and for `rebind db check`; see `store.sqlite.database` and
# `store.postgresql.database` for why no database enforces them.
for _table in metadata.tables.values():
    for _reference in _table.foreign_key_constraints:
        _reference.ddl_if(dialect="sqlite")
