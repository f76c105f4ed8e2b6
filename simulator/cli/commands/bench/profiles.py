"""The table of profiles: what can be run, how many runs that are, and how long they take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from benchmarks.profiles.combinations import Combination
from benchmarks.profiles.estimate import estimated
from benchmarks.profiles.loading import LoadedProfile, load_profiles
from benchmarks.profiles.presets import find_profile, preset_names
from benchmarks.results.naming import Naming
from scenarios.files.parameters import check_settings, read_settings
from simulator.cli.output import Column, JsonValue, OutputOptions, Table, emit
from simulator.cli.scenario_options import load_each
from simulator.core.instants import MINUTE, SECOND, Duration, format_duration

_NONE: Final = "-"
_ZEROS: Final = re.compile(r"(?<=[hm])0[ms]")


@dataclass(frozen=True)
class Listed:
    """One profile of a list.

    Attributes:
        whole_matrix: Whether all of its matrix is meant.
    """

    loaded: LoadedProfile
    whole_matrix: bool

    @cached_property
    def combinations(self) -> tuple[Combination, ...]:
        """What is run without a PostgreSQL server."""
        return self.loaded.profile.combinations(whole_matrix=self.whole_matrix)

    @property
    def runs(self) -> int:
        """Number of runs, repetitions included."""
        return len(self.combinations) * self.loaded.profile.repetitions

    @property
    def takes(self) -> Duration:
        """About how long they take."""
        return estimated(self.loaded.profile, self.combinations)

    @property
    def with_postgresql(self) -> int:
        """Number of runs with a PostgreSQL server."""
        profile = self.loaded.profile
        every = profile.combinations(whole_matrix=self.whole_matrix, postgresql=True)
        return len(every) * profile.repetitions


def _document(row: Listed) -> Mapping[str, JsonValue]:
    profile = row.loaded.profile
    settings = [one.setting for one in row.combinations]
    naming = Naming(settings)
    return {
        "name": profile.name,
        "description": profile.description,
        "runs": row.runs,
        "runsWithPostgreSQL": row.with_postgresql,
        "seconds": row.takes // SECOND,
        "nodes": profile.nodes.count,
        "repetitions": profile.repetitions,
        "parameters": sorted(row.loaded.parameters),
        "phases": [phase.name for phase in profile.phases],
        "shared": naming.shared(),
        "combinations": [naming.name(setting) for setting in settings],
    }


_TABLE: Final[Table[Listed]] = Table(
    kind="ChurnProfileSummary",
    columns=(
        Column("NAME", lambda row: row.loaded.profile.name),
        Column("RUNS", lambda row: row.runs),
        Column("TAKES", lambda row: f"about {rounded(row.takes)}"),
        Column("NODES", lambda row: row.loaded.profile.nodes.count, wide=True),
        Column(
            "CLOCK", lambda row: _values(one.clock.value for one in row.combinations), wide=True
        ),
        Column(
            "PERSISTENCE",
            lambda row: _values(one.persistence.label for one in row.combinations),
            wide=True,
        ),
        Column("PARAMETERS", lambda row: _values(sorted(row.loaded.parameters)), wide=True),
        Column("ABOUT", lambda row: row.loaded.profile.about),
    ),
    name=lambda row: f"profile/{row.loaded.profile.name}",
    document=_document,
    nothing="no profiles",
)


def rounded(span: Duration) -> str:
    """Return a span as people say it, rounded up: `55s`, `4m30s`, `25m`, `2h10m`."""
    step = MINUTE if span >= 10 * MINUTE else 10 * SECOND if span >= MINUTE else SECOND
    return _ZEROS.sub("", format_duration(-(-span // step) * step))


def _values(texts: Iterable[str]) -> str:
    return ",".join(dict.fromkeys(texts)) or _NONE


def show_profiles(
    names: Sequence[str], settings: Sequence[str], output: OutputOptions, *, whole_matrix: bool
) -> bool:
    """Write presets, or the profiles of some files, to stdout; faults of files to stderr.

    Args:
        names: `PRESET|FILE`; none for all presets.
        settings: `NAME=VALUE` each, parameters of the files.
        output: How.
        whole_matrix: Count all that can be combined.

    Returns:
        Whether all files are valid.
    """
    values = read_settings(settings)
    loaded, is_valid = load_each(
        names or preset_names(), lambda name: load_profiles(find_profile(name), values)
    )
    if is_valid:
        check_settings(values, [one.parameters for _, one in loaded], "profile")
    emit(_TABLE, [Listed(one, whole_matrix) for _, one in loaded], output)
    return is_valid
