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

ENTRIES: Final = (NOT_COMMITTED, HELD_BY_OTHER, DATABASE_LOCKED)
