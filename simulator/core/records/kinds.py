"""The types of records by their names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from simulator.core.records import cluster, manager
from simulator.core.records.record import Record

RECORD_KINDS: Final[Mapping[str, type[Record]]] = MappingProxyType(
    {
        kind.__name__: kind
        for module in (manager, cluster)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Record) and kind is not Record
    }
)
"""In the order in which they are defined; a record is shown and asked for by this name."""
