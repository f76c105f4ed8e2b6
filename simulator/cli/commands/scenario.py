"""`rebind scenario`: list, show and validate scenario files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import click

from scenarios.builtin import builtin_names, find_file
from scenarios.files.parameters import check_settings, read_settings
from scenarios.loading.loaded import LoadedScenario, load_scenarios
from scenarios.loading.matrix import Narrowing
from scenarios.running.replay import SOURCE_ANNOTATION
from scenarios.selectors import Selector
from simulator.cli.examples import example
from simulator.cli.failures import INVALID
from simulator.cli.output import (
    Column,
    JsonValue,
    OutputOptions,
    Table,
    emit,
    output_options,
)
from simulator.cli.scenario_options import load_each, selector_option, settings_option
from simulator.core.plurals import counted
from simulator.reports.text import printable


@dataclass(frozen=True, slots=True)
class _Listed:
    """One scenario of a list."""

    loaded: LoadedScenario

    @property
    def runs(self) -> int:
        return len(self.loaded.combinations(Narrowing()))

    @property
    def versions(self) -> str:
        return ",".join(self.loaded.scenario.spec.kubelet_versions)

    @property
    def persistences(self) -> str:
        return ",".join(variant.label for variant in self.loaded.scenario.spec.persistence)

    @property
    def source(self) -> str:
        return self.loaded.scenario.metadata.annotations.get(SOURCE_ANNOTATION, "")

    @property
    def labels(self) -> str:
        labels = self.loaded.scenario.metadata.labels
        return ",".join(f"{key}={labels[key]}" for key in sorted(labels))


def _document(row: _Listed) -> Mapping[str, JsonValue]:
    spec, metadata = row.loaded.scenario.spec, row.loaded.scenario.metadata
    return {
        "metadata": {
            "name": row.loaded.name,
            "labels": dict(metadata.labels),
            "annotations": dict(metadata.annotations),
        },
        "description": spec.description,
        "kubeletVersions": list(spec.kubelet_versions),
        "persistence": [variant.label for variant in spec.persistence],
        "readmission": list(spec.readmission),
        "steps": len(spec.steps),
        "expectations": len(spec.expect),
        "runs": row.runs,
    }


_TABLE: Table[_Listed] = Table(
    kind="ScenarioSummary",
    columns=(
        Column("NAME", lambda row: row.loaded.name),
        Column("RUNS", lambda row: row.runs),
        Column("DESCRIPTION", lambda row: row.loaded.scenario.spec.description),
        Column("VERSIONS", lambda row: row.versions, wide=True),
        Column("PERSISTENCE", lambda row: row.persistences, wide=True),
        Column("LABELS", lambda row: row.labels, wide=True),
        Column("SOURCE", lambda row: row.source, wide=True),
    ),
    name=lambda row: f"scenario/{row.loaded.name}",
    document=_document,
    nothing="no built-in scenario has these labels",
)


@click.group(epilog=example("rebind scenario list"))
def scenario() -> None:
    """List, show and check scenarios."""


@scenario.command(
    "list",
    epilog=example("rebind scenario list -o wide", "rebind scenario list -l timing=independent"),
)
@selector_option
@output_options()
def list_(output: OutputOptions, selector: Selector | None) -> None:
    """List the built-in scenarios."""
    wanted = selector or Selector()
    rows = [
        _Listed(loaded)
        for name in builtin_names()
        for loaded in load_scenarios(find_file(name), {})
        if wanted.matches(loaded.scenario.metadata.labels)
    ]
    emit(_TABLE, rows, output)


@scenario.command(epilog=example("rebind scenario show reboot-pod-before-plugin"))
@click.argument("name", metavar="NAME|FILE")
def show(name: str) -> None:
    """Print the file of a scenario, to read it or to start a new one from it."""
    click.echo(find_file(name).read_text(encoding="utf-8"), nl=False)


@scenario.command(epilog=example("rebind scenario validate reboot-pod-before-plugin"))
@click.argument("names", nargs=-1, required=True, metavar="NAME|FILE...")
@settings_option
@click.pass_context
def validate(context: click.Context, names: tuple[str, ...], settings: tuple[str, ...]) -> None:
    """Check scenario files without running them.

    All faults that the schema finds in a file are told at once.
    """
    values = read_settings(settings)
    found, is_valid = load_each(names, lambda name: load_scenarios(find_file(name), values))
    for name, one in found:
        runs, rows = len(one.combinations(Narrowing())), len(one.scenario.spec.expect)
        size = f"{counted(runs, 'run')}, {counted(rows, 'expectation')}"
        click.echo(printable(f"{name}: {one.name} is valid, {size}"))
    if not is_valid:
        context.exit(INVALID)
    check_settings(values, [one.parameters for _, one in found])
