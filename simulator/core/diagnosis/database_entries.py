"""What only a node says that keeps its state in a database; no kubelet does."""

from __future__ import annotations

from typing import Final

from simulator.core.diagnosis.known import Known
from simulator.core.diagnosis.texts import blank, phrase, said_by_version
from simulator.core.refusals import HeldByOtherPod, StateNotCommitted

NOT_COMMITTED: Final = Known(
    key="stateNotCommitted",
    rules=("S3.15",),
    place="Rebind's database, at an admission",
    texts=said_by_version(StateNotCommitted(blank("message")).text),
    means="The pod is refused because what it got could not be committed to the database.",
    why="The database is at fault, not the pod: {message}",
    versions="no kubelet; Rebind with the database as its state",
    advice=("See what is wrong: rebind doctor, rebind db check.",),
    reports=("R50",),
)

HELD_BY_OTHER: Final = Known(
    key="heldByOtherPod",
    rules=("R79",),
    place="Rebind's database, at an admission",
    texts=said_by_version(
        HeldByOtherPod(
            f"device {blank('name')} of {blank('resource')} is held by pod {blank('uid')}"
        ).text
    ),
    means="Device {name} of {resource} would have got a second holder; pod {uid} holds it.",
    why="What the device manager remembers differs from the database, which refuses the second.",
    versions="no kubelet; Rebind with the database as its state",
    advice=("See who holds it, and since when: rebind history device {name}.",),
    reports=("R79",),
)

DATABASE_LOCKED: Final = Known(
    key="databaseLocked",
    rules=("R91",),
    place="SQLite",
    texts=(phrase(r"database is locked"),),
    means="Another connection holds the database's write lock.",
    why="Another process writes, or one process upgrades a read to a write.",
    versions="no kubelet; programs that keep their state in SQLite",
    advice=("Let one process write. In Rebind the second writer is refused by name.",),
    reports=("R91", "R89", "R90"),
)

SECOND_WRITER: Final = Known(
    key="databaseHasWriter",
    rules=("R91",),
    place="Rebind's database, when a second process wants to write it",
    texts=(phrase(r"database (?P<name>\S+) is being written by (?P<message>.+?); stop it"),),
    means="The database {name} has another writer: {message}.",
    why="One process writes a database. Whoever crashed has let go of it, so this one lives.",
    versions="no kubelet; Rebind with the database as its state",
    advice=("Stop that process, or use another database.", "See what it does: rebind doctor."),
    reports=("R91",),
)

UNUSABLE: Final = Known(
    key="databaseUnusable",
    rules=("S4.12",),
    place="Rebind's database, when it is opened, read or written",
    texts=(phrase(r"(?:^|: )database (?P<name>\S+): (?P<message>.+)"),),
    means="The database {name} cannot be used; a node that keeps its state in it does not start.",
    why="{message}",
    versions="no kubelet; Rebind with the database as its state",
    advice=("Do as it says.", "See how the database stands: rebind doctor, rebind db check."),
    reports=("R95", "R93"),
)

ENTRIES: Final = (NOT_COMMITTED, HELD_BY_OTHER, DATABASE_LOCKED, SECOND_WRITER, UNUSABLE)
