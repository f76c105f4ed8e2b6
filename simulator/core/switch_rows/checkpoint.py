"""What is written to the checkpoint file, when, and what is read from it."""

from __future__ import annotations

from typing import Final

from simulator.core.behavior import CheckpointFormat
from simulator.core.switch_rows.row import Switch, change

_V1: Final = frozenset({CheckpointFormat.V1})
_V2: Final = frozenset({CheckpointFormat.V2})

# fmt: off
ROWS: Final[tuple[Switch, ...]] = (
    Switch(
        "checkpoint_written",
        "format in which the checkpoint is written",
        "S4.3", first=CheckpointFormat.V1, changes=(
        change("1.20.0", "S4.2", value=CheckpointFormat.V2),
    )),
    Switch(
        "checkpoints_read",
        "formats of a checkpoint that are read; with any other the records are lost",
        "S4.3", first=_V1, changes=(
        change("1.20.0", "S4.15", value=_V2),
        change("1.23.0", "PR 102882", value=_V1 | _V2, ports=("1.22.5", "1.21.8", "1.20.14")),
        change("1.30.0", "PR 123398", value=_V2),
    )),
    Switch(
        "checkpoint_at_every_admission",
        "every admission writes the checkpoint, also that of a pod without devices",
        "R50", first=True, changes=(
        change("1.20.0", "PR 95602", value=False),
    )),
    Switch(
        "topologyless_under_node_zero",
        "a device without topology is recorded under NUMA node 0",
        "S4.3", first=False, changes=(
        change("1.20.0", "R102", value=True),
        change("1.22.0", "PR 103289", value=False),
    )),
    Switch(
        "legacy_json_escapes",
        "backspace, form feed and invalid UTF-8 are written as \\u escapes",
        "1.20.2 list 24", first=True, changes=(
        change("1.30.0", "Go 1.22, details 1", value=False),
    )),
    Switch(
        "lenient_allocate_responses",
        "a response with a field of another wire type is read, one with invalid UTF-8 is not",
        "1.32.10 list", first=False, changes=(
        change("1.36.0", "appendix C 12 [?]", value=True),
    )),
    Switch(
        "cdi_devices_known",
        "CDI devices of a response are kept when the checkpoint is written again",
        "1.20.2 list 23", first=False, changes=(
        change("1.28.0", "PR 118254", value=True),
    )),
)
# fmt: on
