"""Combinations of version, persistence and readmission: each is one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scenarios.schema.expect import Expectation
from scenarios.schema.scenario import Spec
from scenarios.schema.variants import Persistence
from simulator.core.behavior import Readmission


@dataclass(frozen=True, slots=True)
class Combination:
    """One choice of each dimension."""

    version: str
    persistence: Persistence
    readmission: Readmission

    @property
    def label(self) -> str:
        """Text for headings; the readmission only when it is not the version's own."""
        parts = [self.version, self.persistence.label]
        if self.readmission is not Readmission.UPSTREAM:
            parts.append(self.readmission.value)
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What the command line puts in place of a scenario's own matrix; None keeps it."""

    versions: tuple[str, ...] | None = None
    persistences: tuple[Persistence, ...] | None = None
    readmissions: tuple[Readmission, ...] | None = None


def combinations(spec: Spec, narrowing: Narrowing = Narrowing()) -> tuple[Combination, ...]:
    """Return the runs in order: by version, then persistence, then readmission."""
    versions: Sequence[str] = narrowing.versions or spec.kubelet_versions
    persistences: Sequence[Persistence] = narrowing.persistences or spec.persistence
    readmissions: Sequence[Readmission] = narrowing.readmissions or [
        Readmission(name) for name in spec.readmission
    ]
    return tuple(
        Combination(version, persistence, readmission)
        for version in dict.fromkeys(versions)
        for persistence in dict.fromkeys(persistences)
        for readmission in dict.fromkeys(readmissions)
    )


def selects(row: Expectation, combination: Combination) -> bool:
    """Tell whether a row of expectations is meant for a combination."""
    return (
        (
            row.kubelet_versions is None
            or any(selector.selects(combination.version) for selector in row.kubelet_versions)
        )
        and (
            row.persistence is None
            or any(variant.includes(combination.persistence) for variant in row.persistence)
        )
        and (row.readmission is None or combination.readmission.value in row.readmission)
    )
