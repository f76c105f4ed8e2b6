"""Which actions of a scenario a live node can be put through."""

from __future__ import annotations

from typing import Final

from simulator.engine.actions import Action, CrashKubelet, DatabaseFile, FailEffect, PowerCut
from simulator.engine.faults import Op

_SIMULATED: Final = "leave --live out to have it simulated"
_STEPS_OF_FILES: Final = frozenset({Op.READ, Op.WRITE, Op.FSYNC, Op.RENAME, Op.DIR_FSYNC})
"""The operating system does these; nobody can come between them."""


def refusal_of(action: Action) -> str:
    """Return why a live node cannot be put through this; empty when it can."""
    match action:
        case PowerCut():
            return f"a live node has no power to cut; {_SIMULATED}"
        case DatabaseFile():
            return f"the database of live nodes is not damaged while it is open; {_SIMULATED}"
        case CrashKubelet(effect=str(effect)) | FailEffect(effect=effect):
            if Op(effect) in _STEPS_OF_FILES:
                return (
                    f'on a live node nothing can come between the steps of a file, as "{effect}" '
                    f"is one; {_SIMULATED}"
                )
    return ""
