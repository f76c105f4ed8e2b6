"""The persistence strategies by name: their options, and what each keeps bindings in.

Strategies are made here but for `dual-write`, which a node's migration chooses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from simulator.core.behavior import Behavior
from simulator.core.instants import SECOND, Duration
from simulator.core.persistence.bind_resource import BindResourcePersistence
from simulator.core.persistence.binding_object import BindingObjectPersistence
from simulator.core.persistence.checkpoint import CheckpointPersistence
from simulator.core.persistence.checkpoint_api import CheckpointApiPersistence
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.persistence.pod_status import PodStatusPersistence
from simulator.core.persistence.protocol import Persistence

OptionValue = bool | Duration
"""The value of an option: a switch, or a time."""

FLUSH_PERIOD: Final = "flushPeriod"
"""The one option that is a time."""

_DEFAULTS: Final[Mapping[str, OptionValue]] = MappingProxyType(
    {FLUSH_PERIOD: Duration(SECOND), "synchronous": True}
)
"""What an option is when it is not given; the others are false."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a strategy keeps device bindings.

    Attributes:
        options: The names of its options, sorted.
        in_file, in_rows: Whether in the node's checkpoint file, in the database.
        in_specs, in_objects: Whether in the pods' specs, in DeviceBinding objects.
        migrates: Whether a node can be migrated from it, and to it.
    """

    options: tuple[str, ...] = ()
    in_file: bool = False
    in_rows: bool = False
    in_specs: bool = False
    in_objects: bool = False
    migrates: bool = False

    @property
    def in_api(self) -> bool:
        """Whether a start learns of bindings from the API."""
        return self.in_specs or self.in_objects


STRATEGIES: Final[Mapping[str, Kept]] = MappingProxyType(
    {
        "checkpoint": Kept(("dirFsync",), in_file=True, migrates=True),
        "database": Kept((), in_rows=True, migrates=True),
        "dual-write": Kept(
            ("databasePrimary", "dirFsync"), in_file=True, in_rows=True, migrates=True
        ),
        "checkpoint+api": Kept(("bulkBind", "dirFsync", FLUSH_PERIOD), in_file=True, in_specs=True),
        "bind-resource": Kept(("bulkBind", "perContainer", "waitForEcho"), in_specs=True),
        "pod-status": Kept(("dirFsync",), in_file=True),
        "binding-object": Kept(("synchronous",), in_objects=True),
    }
)
"""The strategies by the names that `--persistence` takes."""


def option_of(options: Mapping[str, OptionValue], name: str) -> OptionValue:
    """Return the value of an option, given or not."""
    return options.get(name, _DEFAULTS.get(name, False))


def strategy_of(name: str, options: Mapping[str, OptionValue], behavior: Behavior) -> Persistence:
    """Make a strategy for one kubelet process.

    Raises:
        KeyError: There is no strategy of this name that stands for itself.
    """

    def given(option: str) -> bool:
        return option_of(options, option) is True

    match name:
        case "checkpoint":
            return CheckpointPersistence(behavior)
        case "database":
            return DatabasePersistence()
        case "checkpoint+api":
            period = Duration(option_of(options, FLUSH_PERIOD))
            return CheckpointApiPersistence(behavior, flush_period=period, bulk=given("bulkBind"))
        case "bind-resource":
            return BindResourcePersistence(
                waits_for_echo=given("waitForEcho"),
                per_container=given("perContainer"),
                bulk=given("bulkBind"),
            )
        case "pod-status":
            return PodStatusPersistence(behavior)
        case "binding-object":
            return BindingObjectPersistence(synchronous=given("synchronous"))
        case _:
            raise KeyError(name)
