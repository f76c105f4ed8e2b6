"""`rebind conform`: what a device plugin must do, asked of yours."""

from __future__ import annotations

import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

import click

from simulator import namespaces
from simulator.assembly.worlds import live_nodes
from simulator.cli.examples import example
from simulator.cli.failures import CHECK_FAILED, EnvironmentProblem
from simulator.cli.lists import Read
from simulator.cli.output import Column, OutputOptions, Table, emit, output_options
from simulator.cli.progress import progress_bar
from simulator.cli.version_warnings import warn_of_unknown
from simulator.config import DEFAULT_KUBELET_VERSION
from simulator.conformance.bench import Deadlines
from simulator.conformance.findings import Finding, Verdict, as_document, as_junit, totals
from simulator.conformance.running import Request
from simulator.conformance.running import conform as ask
from simulator.core.instants import SECOND, Duration, parse_duration
from simulator.core.resources import is_extended_resource_name
from simulator.core.switches import behavior_for
from simulator.core.transitions import NodeName
from simulator.engine.spec import NodeSpec, SimulationSpec
from simulator.live.settings import LiveSettings
from simulator.reports.text import printable
from simulator.rig.kubelet import Kubelet
from simulator.rig.loop_thread import LoopThread
from simulator.rig.processes import PluginProcess
from simulator.rig.rig import Rig

_NODE: Final = NodeName("n0")
_LONGEST: Final = Duration(3600 * SECOND)

_TABLE: Final[Table[Finding]] = Table(
    kind="ConformanceCheck",
    columns=(
        Column("CHECK", lambda finding: finding.check.name),
        Column("RESULT", lambda finding: finding.verdict.value),
        Column("SEEN", lambda finding: finding.detail),
        Column("REQUIRES", lambda finding: f"it {finding.check.requires}", wide=True),
        Column("WHY", lambda finding: finding.check.why, wide=True),
        Column("SOURCES", lambda finding: ",".join(finding.check.sources), wide=True),
    ),
    name=lambda finding: f"conformancecheck/{finding.check.name}",
    document=as_document,
    nothing="no checks",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """How the plugin finds its kubelet.

    Attributes:
        flag: The plugin's own flag for the plugin directory; None if it has none.
        variable: A variable of its environment for that; None if there is none.
        private: Whether `/var/lib/kubelet` is the node's directory for it.
    """

    flag: str | None
    variable: str | None
    private: bool


def _span(text: str) -> Duration:
    span = parse_duration(text)
    if not 0 < span <= _LONGEST:
        reason = f"{text} is not between 0 and 1h"
        raise ValueError(reason)
    return span


def _version(text: str) -> str:
    behavior_for(text)
    return text


def _resource(text: str) -> str:
    if not is_extended_resource_name(text):
        reason = f"{text!r} is not an extended resource name, such as example.com/gpu (S1.15)"
        raise ValueError(reason)
    return text


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=example(
        "rebind conform --socket-dir-flag --socket-dir -- rebind plugin run fake --count 4",
    ),
)
@click.option(
    "--socket-dir-flag",
    metavar="FLAG",
    help="The plugin's own flag for the plugin directory, appended with its value; one that ends "
    "with = is joined to it.",
)
@click.option(
    "--socket-dir-env", metavar="NAME", help="A variable in which the plugin looks for that."
)
@click.option(
    "--in-namespace",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="Whether /var/lib/kubelet is the node's directory for the plugin (`rebind exec`); auto: "
    "unless it is told the directory by flag or variable.",
)
@click.option(
    "--resource",
    type=Read("RESOURCE", _resource),
    help="The resource that pods ask for  [default: the first that is registered]",
)
@click.option(
    "--kubelet-version",
    type=Read("VERSION", _version),
    default=DEFAULT_KUBELET_VERSION,
    show_default=True,
    help="The kubelet that the plugin meets.",
)
@click.option(
    "--timeout",
    type=Read("DURATION", _span),
    default="30s",
    show_default=True,
    help="How long the plugin may take for anything: to register, to answer, to end.",
)
@click.option(
    "--break-device",
    metavar="COMMAND",
    help="A shell command that makes a device fail; with --mend-device, for health-change.",
)
@click.option("--mend-device", metavar="COMMAND", help="A shell command that makes it whole again.")
@output_options("table", "wide", "json", "yaml", "csv", "name", "junit")
@click.argument("command", metavar="CMD...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def conform(  # noqa: PLR0913 - one parameter for each option
    context: click.Context,
    *,
    socket_dir_flag: str | None,
    socket_dir_env: str | None,
    in_namespace: str,
    resource: str | None,
    kubelet_version: str,
    timeout: Duration,
    break_device: str | None,
    mend_device: str | None,
    output: OutputOptions,
    command: tuple[str, ...],
) -> None:
    """Start a device plugin beside a kubelet of its own, and check what a plugin must do.

    It must register, list its devices, answer the kubelet's calls, come back after kubelet
    restarts, slow kubelets, wiped sockets and broken streams, and end in time. A check is passed,
    failed, or not applicable; `-o wide` says what each requires, and why. Nothing of this machine's
    kubelet is touched.

    Exit codes: 0 no check failed; 1 one did; 3 the plugin cannot be run.
    """
    if (break_device is None) != (mend_device is None):
        reason = "--break-device and --mend-device are used together"
        raise click.UsageError(reason, context)
    told = socket_dir_flag is not None or socket_dir_env is not None
    place = _Place(
        flag=socket_dir_flag,
        variable=socket_dir_env,
        private=in_namespace == "always" or (in_namespace == "auto" and not told),
    )
    warn_of_unknown(behavior_for(kubelet_version))
    _require_runnable(command, place)
    answer = timeout / SECOND
    request = Request(
        launch=lambda kubelet: _launched(kubelet, command, place),
        resource=resource or "",
        deadlines=Deadlines(answer=answer),
        break_device=_shell(break_device),
        mend_device=_shell(mend_device),
    )
    findings = _ask(request, kubelet_version, timeout)
    if output.format == "junit":
        click.echo(as_junit(findings, shlex.join(command)), nl=False)
    else:
        emit(_TABLE, findings, output)
    click.echo(totals(findings), err=True)
    if any(finding.verdict is Verdict.FAILED for finding in findings):
        if output.format == "table":
            click.echo("-o wide says what each check requires, and why", err=True)
        context.exit(CHECK_FAILED)


def _ask(request: Request, version: str, timeout: Duration) -> tuple[Finding, ...]:
    """Ask everything on a node that exists for this alone."""
    spec = SimulationSpec(
        nodes=(NodeSpec(_NODE),), kubelet_version=version, persistence="checkpoint"
    )

    def settings(root: Path) -> LiveSettings:
        usual = LiveSettings(root=root)
        return LiveSettings(
            root=root,
            dial_timeout=min(usual.dial_timeout, Duration(timeout // 2)),
            pre_start_timeout=min(usual.pre_start_timeout, timeout),
        )

    thread = LoopThread()
    try:
        with (
            _ended_by_signals(),
            Rig(spec, live_nodes, thread, settings, begun=False) as rig,
            progress_bar() as bar,
        ):
            task = bar.add_task("", total=None)
            return ask(rig, request, lambda what: bar.update(task, description=what))
    finally:
        thread.close()


def _launched(kubelet: Kubelet, command: Sequence[str], place: _Place) -> PluginProcess:
    directory = str(kubelet.socket_dir)
    if place.private:
        directory = f"{namespaces.KUBELET_DIRECTORY}/device-plugins"
    words = list(command)
    if place.flag is not None:
        joined = place.flag.endswith("=")
        words += [f"{place.flag}{directory}"] if joined else [place.flag, directory]
    environment = {} if place.variable is None else {place.variable: directory}
    return kubelet.run(*words, in_namespace=place.private, environment=environment)


def _require_runnable(command: Sequence[str], place: _Place) -> None:
    """Check what can be known before the plugin is started.

    Raises:
        EnvironmentProblem: There is no such program, or no namespace for it.
    """
    if shutil.which(command[0]) is None:
        reason = f"cannot run {command[0]}: there is no such program; give its path after --"
        raise EnvironmentProblem(reason)
    if place.private and (refusal := namespaces.why_refused()):
        reason = f"{refusal} (--socket-dir-flag, --socket-dir-env)"
        raise EnvironmentProblem(reason)


def _shell(line: str | None) -> Callable[[], None] | None:
    if line is None:
        return None

    def run() -> None:
        ended = subprocess.run(line, shell=True, check=False)  # noqa: S602 - the user's own command line
        if ended.returncode:
            reason = f"the command `{printable(line)}` ended with {ended.returncode}"
            raise EnvironmentProblem(reason)

    return run


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM end the run as Ctrl-C does, so that no plugin is left behind."""

    def end(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
