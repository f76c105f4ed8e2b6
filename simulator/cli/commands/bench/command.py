"""`rebind bench`: list, show, run, report, compare."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from benchmarks.profiles.presets import find_profile
from simulator.assembly.api_server import extra_api
from simulator.cli.checkpoint_files import FileName
from simulator.cli.commands.bench.comparison import read_share, show_comparison, tell_worse
from simulator.cli.commands.bench.profiles import show_profiles
from simulator.cli.commands.bench.reports import REPORT_FORMATS, TABLES, write_report
from simulator.cli.commands.bench.result_files import load_result
from simulator.cli.examples import example
from simulator.cli.failures import CHECK_FAILED, INVALID
from simulator.cli.html import require_html
from simulator.cli.lists import Read
from simulator.cli.output import OutputOptions, output_options
from simulator.cli.scenario_options import settings_option

_FILE: Final = FileName(path_type=Path)


@click.group(epilog=example("rebind bench list"))
def bench() -> None:
    """Measure what keeping bindings costs under churn, and compare runs."""


@bench.command(
    "list", epilog=example("rebind bench list", "rebind bench list api-comparison --matrix -o yaml")
)
@click.argument("names", nargs=-1, metavar="[PRESET|FILE...]")
@settings_option
@click.option("--matrix", is_flag=True, help="Count all that can be combined.")
@output_options()
@click.pass_context
def list_profiles(
    context: click.Context,
    output: OutputOptions,
    *,
    names: tuple[str, ...],
    settings: tuple[str, ...],
    matrix: bool,
) -> None:
    """List what can be run, how many runs that are, and how long they take.

    Files with profiles of your own are checked, and every fault in them is told. `rebind explain
    churnprofile` says what can stand in them.
    """
    if not show_profiles(names, settings, output, whole_matrix=matrix):
        context.exit(INVALID)


@bench.command(epilog=example("rebind bench show quick"))
@click.argument("name", metavar="PRESET|FILE")
def show(name: str) -> None:
    """Print the file of a profile, to read it or to start a new one from it."""
    click.echo(find_profile(name).read_text(encoding="utf-8"), nl=False)


@bench.command(
    "run",
    epilog=example("rebind bench run burst-110 --out run.json"),
)
@click.argument("name", metavar="PRESET|FILE")
@settings_option
@click.option("--matrix", is_flag=True, help="Run all that can be combined.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True, max=86_400),
    help="Length of each load, and of each step of a ramp, in place of the profile's own.",
)
@click.option(
    "--nodes",
    type=click.IntRange(min=1, max=10_000),
    help="Number of nodes in place of the profile's own.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1, max=1_000),
    help="How often each combination is run, in place of the profile's own.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**63 - 1),
    help="From which the schedule is made, in place of the profile's own.",
)
@click.option(
    "--out",
    type=_FILE,
    metavar="FILE",
    help="Keep the result in this file, for `bench report` and `bench compare`; it is written anew "
    "after every row.",
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path),
    help="Where files and databases are made that are written and fsynced; the usual place of "
    "temporary files by default.",
)
@click.option(
    "--db-url",
    "database",
    metavar="URL",
    help="A PostgreSQL database for the combinations with one; what is measured is kept in schemas "
    "of its own, which are dropped.",
)
@click.option(
    "--kubeconfig",
    type=_FILE,
    metavar="FILE",
    help="Measure the API server of this cluster, in place of one of Rebind's own for each "
    "combination: all kubelets write their statuses there, and what it cannot do is left out. Pods "
    "are in a namespace of their own; it and the nodes, which are tainted, are deleted in the end.",
)
@output_options("table", "wide", "json", "yaml", "csv")
@click.pass_context
def run_profile(  # noqa: PLR0913 - one for each option
    context: click.Context,
    output: OutputOptions,
    *,
    name: str,
    settings: tuple[str, ...],
    matrix: bool,
    seconds: float | None,
    nodes: int | None,
    repetitions: int | None,
    seed: int | None,
    out: Path | None,
    folder: Path | None,
    database: str | None,
    kubeconfig: Path | None,
) -> None:
    """Run a churn profile and print a row for each of its combinations and phases.

    Pods come in an open loop, and latencies count from the instant at which each was to come.
    A pod is served, durably admitted, when its bindings would outlive its kubelet: where only the
    API keeps them, when the API has them. A node admits one pod after the other, so commitBatch
    gathers at most as many commits as there are nodes with an admission in flight. Pods that never
    came so far, as they failed, say, count as the longest; a percentile that is theirs is a lower
    bound and begins with `≥`. What a plain fsync costs here is measured first. Repetitions are
    interleaved; Ctrl-C prints, and keeps, what was measured so far. Gates of the profile that do
    not hold are told on stderr, and the exit code is 1.
    """
    with extra_api():
        # None of the other commands of `bench` needs the extra.
        from simulator.cli.commands.bench.running import Wanted, run_and_show  # noqa: PLC0415
    wanted = Wanted(
        name=name,
        settings=settings,
        matrix=matrix,
        seconds=seconds,
        nodes=nodes,
        repetitions=repetitions,
        seed=seed,
        out=out,
        folder=folder,
        database=database,
        kubeconfig=kubeconfig,
    )
    if not run_and_show(wanted, output):
        context.exit(CHECK_FAILED)


@bench.command(
    "report",
    epilog=example(
        "rebind bench report run.json --out report.html",
        "rebind bench report run.json -o table",
        "rebind bench report run.json later.json -o csv",
        "rebind bench report run.json -o csv --over-time",
    ),
)
@click.argument("runs", type=_FILE, nargs=-1, required=True, metavar="RUN...")
@click.option(
    "-o",
    "--output",
    type=click.Choice(REPORT_FORMATS),
    default="html",
    show_default=True,
    help="Form of the report. html: one page that stands alone, with plots; json: findings and "
    "every figure; csv: one line for each row, in base units.",
)
@click.option(
    "--over-time",
    is_flag=True,
    help="With csv: one line for each slice of the long phases, in place of the rows.",
)
@click.option(
    "--out",
    "--output-file",
    "out",
    type=_FILE,
    metavar="FILE",
    help="Write it to this file, not to stdout.",
)
def report(*, runs: tuple[Path, ...], output: str, out: Path | None, over_time: bool) -> None:
    """Report what runs have measured, from the files that `bench run` wrote.

    Says what they found in two or three sentences, and shows latency over load, percentiles, rates,
    what batching gains and how latency grows, as far as the rows carry it. Figures are medians over
    the repetitions, with the least and the most of them. Of loads that are measured for 30 s or
    more it says whether rate, latency, memory and size on disk stayed flat, and shows them.
    """
    if over_time and output != "csv":
        reason = "--over-time goes with -o csv; the other forms show both"
        raise click.UsageError(reason, click.get_current_context())
    if output in TABLES and out is not None:
        reason = "tables go to stdout; --out takes html, json or csv"
        raise click.UsageError(reason, click.get_current_context())
    if output == "html":
        require_html()
    write_report([load_result(run) for run in runs], output, out, over_time=over_time)


@bench.command(
    "compare",
    epilog=example(
        "rebind bench compare run.json later.json",
        "rebind bench compare run.json later.json -o wide",
    ),
)
@click.argument("first", type=_FILE, metavar="A")
@click.argument("second", type=_FILE, metavar="B")
@click.option(
    "--fail-over",
    type=Read("share", read_share),
    metavar="PERCENT",
    help="End with exit code 1 if a figure of B is worse by more than this, e.g. 10%, unless the "
    "repetitions show that it may be noise.",
)
@output_options("table", "wide", "json", "yaml", "csv")
@click.pass_context
def compare(
    context: click.Context,
    output: OutputOptions,
    *,
    first: Path,
    second: Path,
    fail_over: float | None,
) -> None:
    """Compare run B with run A, setting by setting and phase by phase.

    Prints B over A for the achieved rate, latencies, fsyncs and bytes per binding, API calls per
    pod and CPU time. `~` stands behind a ratio that is within the noise: the repetitions of both
    runs overlap, or their medians are no further apart than the repetitions of one run are. `?`
    stands where one repetition does not tell. What only one run has, and what makes the two hard to
    compare, is said on stderr.
    """
    comparison = show_comparison(load_result(first), load_result(second), output)
    if fail_over is not None and tell_worse(comparison, fail_over):
        context.exit(CHECK_FAILED)
