"""What a write requires of an API object, and what a server says when it is not so.

One home for all who serve objects: the engine's server in memory, the store of the one that is
served, and the dialect in which that one answers.

Kubernetes: the preconditions of updates and deletions (apiserver/pkg/storage), the texts of
apimachinery/pkg/api/errors.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

Standing = tuple[int, str]
"""What a write may require of an object that exists: its revision and its uid.

A plain tuple, of which a store remembers one for every object: the collector of garbage looks at it
once and never again.
"""

MODIFIED: Final = (
    "the object has been modified; please apply your changes to the latest version and try again"
)
"""Why a write cannot be done when another one came before it."""


class Unmet(Enum):
    """What is not as an update or a deletion requires it."""

    IS_ANOTHER = "the object has another uid"
    IS_CHANGED = "the object has another revision"


def unmet_by(
    standing: Standing, *, revision: int | None = None, uid: str | None = None
) -> Unmet | None:
    """Return what an object does not meet; None when it is as required.

    Args:
        standing: The object as it is now.
        revision: What it must have; None for whatever it has.
        uid: What it must have, which is looked at first; None for whatever it has.
    """
    if uid is not None and uid != standing[1]:
        return Unmet.IS_ANOTHER
    if revision is not None and revision != standing[0]:
        return Unmet.IS_CHANGED
    return None


def not_found_text(resource: str, name: str) -> str:
    """Return what is said of an object that is not there; `resource` as in `pods`."""
    return f'{resource} "{name}" not found'


def already_exists_text(resource: str, name: str) -> str:
    """Return what is said when an object was to be made where there is one."""
    return f'{resource} "{name}" already exists'


def conflict_text(resource: str, name: str, why: str = MODIFIED) -> str:
    """Return what is said of an object that is not what the request takes it for."""
    return f'Operation cannot be fulfilled on {resource} "{name}": {why}'


def precondition_text(field: str, *, required: str, found: str) -> str:
    """Return which field is not as required; `field` as in `UID`."""
    return f"{field} in precondition: {required}, {field} in object meta: {found}"
