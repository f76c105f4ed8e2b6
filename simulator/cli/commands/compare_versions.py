"""`rebind compare-versions`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from scenarios.builtin import builtin_names, find_file
from scenarios.loading.loaded import LoadedScenario, load_scenarios
from scenarios.own_node.state import Event, OwnNode, own_scenario
from scenarios.running.comparing import compare_scenarios, with_causes
from scenarios.schema.variants import Persistence, parse_persistence
from simulator.assembly.worlds import simulated
from simulator.cli import terminal
from simulator.cli.checkpoint_files import FileName
from simulator.cli.examples import example
from simulator.cli.lists import Read
from simulator.cli.output import OutputOptions, emit_document
from simulator.cli.own_state import read_own_node, tell_notes
from simulator.cli.progress import progress_bar
from simulator.cli.version_warnings import warn_of_unknown
from simulator.core.behavior import Behavior
from simulator.core.switches import SWITCHES, behavior_for
from simulator.reports.comparison import (
    ComparedScenario,
    VersionComparison,
    different_switches,
)
from simulator.reports.comparison_report import comparison_document, comparison_report

_FILE = FileName(path_type=Path)


@click.command(
    "compare-versions",
    epilog=example(
        "rebind compare-versions 1.27.2 1.36.2",
        "rebind compare-versions 1.24 1.28 --checkpoint kubelet_internal_checkpoint -f pods.yaml",
    ),
)
@click.argument("first", type=Read("VERSION", behavior_for), metavar="VERSION")
@click.argument("second", type=Read("VERSION", behavior_for), metavar="VERSION")
@click.option(
    "--checkpoint",
    type=_FILE,
    metavar="FILE",
    help="Your node's kubelet_internal_checkpoint: compare also what becomes of its pods.",
)
@click.option(
    "-f",
    "--filename",
    "pods",
    type=_FILE,
    multiple=True,
    metavar="FILE",
    help="Your node's pods, as `kubectl get pods -A -o yaml` prints them.",
)
@click.option("--node-name", metavar="NAME", help="Your node, where the pods are of several.")
@click.option(
    "--persistence",
    type=Read("PERSISTENCE", parse_persistence),
    default="checkpoint",
    show_default=True,
    help="Where the kubelet keeps its records.",
)
@click.option(
    "--causes",
    is_flag=True,
    help="Find also which switches make built-in scenarios come out differently; takes longer.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(("table", "json", "yaml")),
    default="table",
    show_default=True,
    help="Form of what is printed; json and yaml hold every difference in full.",
)
@click.pass_context
def compare_versions(  # noqa: PLR0913 - click hands over every option
    context: click.Context,
    *,
    first: Behavior,
    second: Behavior,
    checkpoint: Path | None,
    pods: tuple[Path, ...],
    node_name: str | None,
    persistence: Persistence,
    causes: bool,
    output: str,
) -> None:
    """Show what another kubelet version would change.

    Prints which switches differ, since which release and who says so; which of the built-in
    scenarios come out differently; and with --checkpoint and -f, which of your own pods do so at a
    restart of the kubelet and at a reboot, with the plugins back before the pods are admitted and
    with the plugins late, and because of which switches.
    """
    node = _own_node(context, checkpoint, pods, node_name)
    own = [] if node is None else _own_scenarios(node, (first.version, second.version), persistence)
    warn_of_unknown(first, second)
    switches = different_switches(first, second)
    runs = _Runs((first.version, second.version), persistence, skipped=not switches)
    comparison = VersionComparison(
        first=first,
        second=second,
        switches=switches,
        switch_count=len(SWITCHES),
        scenarios=runs.compared(_builtin(), causes=causes),
        own=runs.compared(own, causes=True),
    )
    if output == "table":
        report = comparison_report(comparison, width=terminal.width(), color=terminal.is_colored())
        click.echo(report, nl=False)
    else:
        emit_document("VersionComparison", comparison_document(comparison), OutputOptions(output))


def _builtin() -> list[LoadedScenario]:
    return [one for name in builtin_names() for one in load_scenarios(find_file(name), {})]


def _own_node(
    context: click.Context, checkpoint: Path | None, pods: Sequence[Path], node_name: str | None
) -> OwnNode | None:
    """Return the user's node; None when no file is given."""
    if checkpoint is None or not pods:
        if checkpoint is not None or pods or node_name is not None:
            reason = "your own node wants both --checkpoint FILE and -f FILE with its pods"
            raise click.UsageError(reason, context)
        return None
    return read_own_node(checkpoint, pods, node_name)


def _own_scenarios(
    node: OwnNode, versions: Sequence[str], persistence: Persistence
) -> list[LoadedScenario]:
    """Return the user's node in each event."""
    made = [
        own_scenario(node, event, versions=versions, persistences=(persistence,)) for event in Event
    ]
    tell_notes(made[0])
    return [loaded for one in made for loaded in one.loaded]


@dataclass(frozen=True, slots=True)
class _Runs:
    """How scenarios are run; versions without a difference need no run."""

    versions: tuple[str, str]
    persistence: Persistence
    skipped: bool

    def compared(
        self, loaded: Sequence[LoadedScenario], *, causes: bool
    ) -> tuple[ComparedScenario, ...]:
        """Compare scenarios, showing progress on a terminal."""
        if self.skipped:
            return ()
        with progress_bar() as bar:
            task = bar.add_task("comparing", total=len(loaded))
            compared = compare_scenarios(
                loaded, self.versions, self.persistence, simulated, lambda: bar.advance(task)
            )
            if causes:
                bar.add_task("finding causes", total=None)
                compared = with_causes(compared, loaded, self.versions, self.persistence, simulated)
        return tuple(compared)
