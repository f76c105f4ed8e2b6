"""A node's rows as a kubelet's file."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.behavior import Behavior, CheckpointFormat
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.parse import parse
from simulator.core.checkpoint.render import render
from simulator.core.devices import DeviceId
from simulator.core.resources import ResourceName
from simulator.core.transitions import NodeState
from simulator.errors import CheckpointError


@dataclass(frozen=True, slots=True)
class NodeFile:
    """What a store knows of a node beyond its bindings, as a file needs it.

    Attributes:
        unchanged: The node's own file, imported or set aside, if nothing has changed since.
        healthy: The healthy devices of every registered resource, in the plugin's order (S4.4).
    """

    unchanged: bytes | None = None
    healthy: tuple[tuple[ResourceName, tuple[DeviceId, ...]], ...] = ()


def exported_file(
    state: NodeState,
    known: NodeFile,
    behavior: Behavior,
    form: CheckpointFormat | None = None,
) -> bytes:
    """Return the file of a node: its own as long as it has the wanted format and nothing changed.

    Else it is written from the rows: bindings in stored order.

    Args:
        state: The node's rows.
        known: What else the store knows.
        behavior: The kubelet version whose format, unless `form` says otherwise, and JSON escapes
            are written.
        form: The format; None with a file of its own: that one's.
    """
    if known.unchanged is not None and (form is None or _is_of(known.unchanged, form)):
        return known.unchanged
    wanted = form or behavior.checkpoint_written
    checkpoint = checkpoint_of(state.bindings, known.healthy, wanted)
    return render(checkpoint, legacy_escapes=behavior.legacy_json_escapes)


def _is_of(content: bytes, form: CheckpointFormat) -> bool:
    """Tell whether a file is of a format; one without entries is of several."""
    try:
        parse(content, {form})
    except CheckpointError:
        return False
    return True
