"""A run of a profile: progress on stderr, the result in a file and on stdout."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from benchmarks.measuring.database_place import check_server
from benchmarks.measuring.foreign_cluster import (
    Abilities,
    abilities,
    needs_binding,
    needs_objects,
    with_statuses_in_api,
)
from benchmarks.measuring.runs import Run, Runner
from benchmarks.measuring.shortening import with_length, with_nodes
from benchmarks.profiles.combinations import Combination
from benchmarks.profiles.loading import LoadedProfile, load_profiles
from benchmarks.profiles.presets import find_profile
from benchmarks.results.documents import result_text
from benchmarks.results.rows import Result, Store
from scenarios.files.parameters import check_settings, read_settings
from simulator.api.client.kubeconfig import read_kubeconfig
from simulator.cli.commands.bench.gates import tell_gates
from simulator.cli.commands.bench.progress import progress_shown
from simulator.cli.commands.bench.showing import show_result
from simulator.cli.failures import EnvironmentProblem
from simulator.cli.output import OutputOptions
from simulator.cli.output_files import require_writable, write_whole
from simulator.core.instants import SECOND, Duration
from simulator.errors import ProfileError

_ONE: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the user wants to be run.

    Attributes:
        name: `PRESET|FILE`.
        settings: Parameters of the file.
        matrix: Whether everything is run that can be combined.
        seconds, nodes, repetitions, seed: In place of the profile's own.
        out: The file that holds the result; None for none.
        folder: Where nodes and databases are made; None for the usual place.
        database: URL of a PostgreSQL database.
        kubeconfig: Of a cluster whose API server is measured.
    """

    name: str
    settings: tuple[str, ...]
    matrix: bool
    seconds: float | None
    nodes: int | None
    repetitions: int | None
    seed: int | None
    out: Path | None
    folder: Path | None
    database: str | None
    kubeconfig: Path | None


def run_and_show(wanted: Wanted, output: OutputOptions) -> bool:
    """Run a profile and write its result to stdout, after Ctrl-C what was measured.

    Returns:
        Whether all gates of the profile hold.

    Raises:
        ProfileError: There is no such profile, or it is not valid.
        RebindError: What is to be measured cannot be made here.
        OSError: The result cannot be kept where it is to be; said before anything is measured.
    """
    if wanted.out is not None:
        require_writable(wanted.out)
    run = _run(wanted)
    with progress_shown() as line, _ended_as_by_ctrl_c():
        runner = Runner(run, kept=_keeper(wanted.out), progress=line.show)
        try:
            runner.measure()
        except KeyboardInterrupt:
            line.clear()
            if runner.result.rows:
                show_result(runner.result, output)
            raise
    show_result(runner.result, output)
    return tell_gates(run.profile, runner.result.rows)


@contextmanager
def _ended_as_by_ctrl_c() -> Iterator[None]:
    """Let SIGTERM, as of `timeout`, keep what was measured and clear up as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)


def _run(wanted: Wanted) -> Run:
    loaded = _loaded(wanted)
    profile = loaded.profile
    if wanted.seconds is not None:
        profile = with_length(profile, Duration(round(wanted.seconds * SECOND)))
    combinations = profile.combinations(
        whole_matrix=wanted.matrix, postgresql=wanted.database is not None
    )
    if wanted.nodes is not None:
        combinations = with_nodes(combinations, wanted.nodes)
    if wanted.database and any(one.store is Store.POSTGRESQL for one in combinations):
        check_server(wanted.database)
    cluster = None if wanted.kubeconfig is None else read_kubeconfig(wanted.kubeconfig)
    if cluster is not None:
        combinations = on_cluster(combinations, asyncio.run(abilities(cluster)))
    return Run(
        profile=profile,
        document=dict(loaded.document),
        combinations=combinations,
        seed=profile.seed if wanted.seed is None else wanted.seed,
        repetitions=wanted.repetitions or profile.repetitions,
        folder=wanted.folder,
        postgresql=wanted.database,
        cluster=cluster,
        kubeconfig=wanted.kubeconfig,
    )


def on_cluster(combinations: tuple[Combination, ...], able: Abilities) -> tuple[Combination, ...]:
    """Return the combinations as they are measured on a cluster that is there already.

    Those that ask an API server for more than it can do are left out, which is said. All others
    write the statuses of their pods there, as every kubelet does.

    Raises:
        EnvironmentProblem: Nothing is left.
    """
    left = tuple(dict.fromkeys(map(with_statuses_in_api, combinations)))
    if not able.binds_devices:
        left = _without(left, needs_binding, "does not bind devices to pods")
    if not able.has_objects:
        lack = "has no DeviceBindings (rebind api install-crd makes them known)"
        left = _without(left, needs_objects, lack)
    if not left:
        reason = (
            "none of the combinations can be measured on this cluster; checkpoint, database and "
            "pod-status can, and binding-object after rebind api install-crd"
        )
        raise EnvironmentProblem(reason)
    return left


def _without(
    combinations: tuple[Combination, ...], needs: Callable[[Combination], bool], lack: str
) -> tuple[Combination, ...]:
    left_out = {one.persistence.name for one in combinations if needs(one)}
    if left_out:
        names = ", ".join(sorted(left_out))
        click.echo(f"warning: left out on this cluster, which {lack}: {names}", err=True)
    return tuple(one for one in combinations if not needs(one))


def _loaded(wanted: Wanted) -> LoadedProfile:
    values = read_settings(wanted.settings)
    path = find_profile(wanted.name)
    loaded = load_profiles(path, values)
    check_settings(values, [one.parameters for one in loaded], "profile")
    if len(loaded) > _ONE:
        names = ", ".join(one.profile.name for one in loaded)
        reason = f"it holds {len(loaded)} profiles ({names}), and one is run at a time"
        raise ProfileError(reason, path=str(path))
    return loaded[0]


def _keeper(out: Path | None) -> Callable[[Result], None]:
    """Return what keeps the result so far, so that nothing is lost when the run is broken off."""
    if out is None:
        return lambda _: None
    return lambda result: write_whole(out, result_text(result).encode())
