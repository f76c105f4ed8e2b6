"""Whether a write of an object is possible, the same for every store."""

from __future__ import annotations

from typing import Final

from simulator.core.preconditions import Standing, Unmet, unmet_by
from simulator.object_ports import (
    AlreadyExists,
    ChangeType,
    Conflicted,
    CreateObject,
    DeleteObject,
    NotFound,
    ObjectWrite,
)

REVISIONS_MAX: Final = 100_000
"""So far back the changes of objects are known: within the newest revisions of this number.

A watch of a program that was away for longer begins anew with a list. The real API server knows
five to ten minutes of changes; so many changes a minute are more than it can make.
"""

TYPES: Final = {ChangeType.ADDED: 1, ChangeType.MODIFIED: 2, ChangeType.DELETED: 3}
"""Numbers of what happens to objects; they are in databases and never change."""


def refusal_of(
    write: ObjectWrite, standing: Standing | None
) -> AlreadyExists | NotFound | Conflicted | None:
    """Say why a write is refused; None for one that is not.

    Args:
        write: What is to be done.
        standing: The object now, None when there is none.
    """
    if isinstance(write, CreateObject):
        return None if standing is None else AlreadyExists()
    if standing is None:
        return NotFound()
    unmet = unmet_by(standing, revision=write.revision, uid=write.uid)
    if unmet is None:
        return None
    return Conflicted(*standing, is_another=unmet is Unmet.IS_ANOTHER)


def type_of(write: ObjectWrite) -> ChangeType:
    """Return what a write does to its object."""
    if isinstance(write, CreateObject):
        return ChangeType.ADDED
    return ChangeType.DELETED if isinstance(write, DeleteObject) else ChangeType.MODIFIED
