"""The operator's own node in `rebind replay`: its options, and the scenario made of its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click

from scenarios.kubernetes.node_pods import POD_FILE_SIZE_MAX, read_node_pods
from scenarios.loading.matrix import Narrowing
from scenarios.own_node.state import Event, OwnNode, OwnScenario, own_scenario
from scenarios.schema.variants import Persistence
from simulator.cli.checkpoint_files import FileName, read_checkpoint
from simulator.cli.failures import EnvironmentProblem
from simulator.cli.output_files import write_new
from simulator.config import CHECKPOINT_SIZE_MAX, DEFAULT_KUBELET_VERSION
from simulator.reports.text import printable

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """What the options say.

    Attributes:
        node_name: The node, where the pods are of several.
        write: Where the scenario is put.
    """

    checkpoint: Path
    pods: tuple[Path, ...]
    event: Event
    node_name: str | None
    write: Path | None


def own_state_options(command: F) -> F:
    """Add `--checkpoint`, `--pods`, `--event`, `--node-name` and `--write` to a command."""
    file = FileName(path_type=Path)
    for option in reversed(
        (
            click.option(
                "--checkpoint",
                type=file,
                metavar="FILE",
                help="Your node's kubelet_internal_checkpoint, in place of a scenario.",
            ),
            click.option(
                "--pods",
                type=file,
                multiple=True,
                metavar="FILE",
                help="Your node's pods, as `kubectl get pods -A -o yaml` prints them.",
            ),
            click.option(
                "--event",
                type=click.Choice([event.value for event in Event]),
                help="What happens to your node.",
            ),
            click.option(
                "--node-name", metavar="NAME", help="Your node, where the pods are of several."
            ),
            click.option(
                "--write",
                type=file,
                metavar="FILE",
                help="Write the scenario made of your files, to change it and replay it.",
            ),
        )
    ):
        command = option(command)
    return command


def own_files(  # noqa: PLR0913 - one for each option
    context: click.Context,
    *,
    checkpoint: Path | None,
    pods: tuple[Path, ...],
    event: str | None,
    node_name: str | None,
    write: Path | None,
) -> OwnFiles | None:
    """Return what the options say together; None when none is given.

    Raises:
        click.UsageError: Some are missing.
    """
    given = {
        "--checkpoint": checkpoint is not None,
        "--pods": bool(pods),
        "--event": event is not None,
    }
    if checkpoint is None or event is None or not pods:
        others = {"--node-name": node_name is not None, "--write": write is not None}
        named = [name for name, is_given in {**given, **others}.items() if is_given]
        missing = [name for name, is_given in given.items() if not is_given]
        if named:
            events = " or ".join(one.value for one in Event)
            reason = (
                f"{', '.join(named)} given without {', '.join(missing)}; your own node wants "
                f"--checkpoint FILE --pods FILE --event {events}"
            )
            raise click.UsageError(reason, context)
        return None
    return OwnFiles(checkpoint, pods, Event(event), node_name, write)


def load_own(files: OwnFiles, narrowing: Narrowing) -> OwnScenario:
    """Make the scenario, write it where that is wanted, and say what was assumed.

    Raises:
        CheckpointError: The file is no device-manager checkpoint.
        InputError: The pods are no pods of a node, or cannot stand in a scenario.
        OSError: A file cannot be read or written.
    """
    own = read_own_node(files.checkpoint, files.pods, files.node_name, write=files.write)
    made = own_scenario(
        own,
        files.event,
        versions=narrowing.versions or (DEFAULT_KUBELET_VERSION,),
        persistences=narrowing.persistences or (Persistence("checkpoint"),),
    )
    tell_notes(made)
    if files.write is not None:
        _write(files.write, made.text)
    return made


def read_own_node(
    checkpoint: Path, pods: Sequence[Path], name: str | None, *, write: Path | None = None
) -> OwnNode:
    """Read the files of a node.

    Args:
        checkpoint: Its checkpoint.
        pods: Manifests with its pods.
        name: The node, where the pods are of several.
        write: The scenario file that is to refer to the checkpoint, if one is written.

    Raises:
        CheckpointError: The file is no device-manager checkpoint.
        InputError: The pods are no pods of a node.
        OSError: A file cannot be read.
    """
    read = read_checkpoint(checkpoint, max_size=CHECKPOINT_SIZE_MAX)
    return OwnNode(
        path=_as_seen_from(write, checkpoint),
        content=read.content,
        inspection=read.inspection,
        pods=[pod for path in pods for pod in read_node_pods(_content(path), str(path))],
        name=name,
    )


def tell_notes(made: OwnScenario) -> None:
    """Say on stderr what was left out or assumed."""
    for note in made.notes:
        click.echo(printable(f"note: {note}"), err=True)


def _content(path: Path) -> bytes:
    """Read a file, one byte more than it may have at most."""
    with path.open("rb") as file:
        return file.read(POD_FILE_SIZE_MAX + 1)


def _as_seen_from(scenario: Path | None, checkpoint: Path) -> str:
    """Return the name by which a scenario file refers to the checkpoint."""
    if scenario is None:
        return str(checkpoint)
    return os.path.relpath(checkpoint.resolve(), scenario.resolve().parent)


def _write(path: Path, text: str) -> None:
    try:
        write_new(path, text.encode())
    except FileExistsError as error:
        reason = f"{path}: there is a file already; name another one with --write"
        raise EnvironmentProblem(reason) from error
    click.echo(printable(f"written: {path}"), err=True)
