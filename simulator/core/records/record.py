"""What every record is, and how a driver stamps it."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.instants import Instant
from simulator.core.transitions import NodeName


@dataclass(frozen=True, slots=True)
class Record:
    """Base of all records; its class name is the record's type."""


@dataclass(frozen=True, slots=True)
class Stamped:
    """A record with its place: when and on which node it happened."""

    at: Instant
    node: NodeName
    record: Record
