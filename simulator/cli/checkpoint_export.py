"""What `rebind checkpoint export` does: a node's state as a kubelet's file."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from pathlib import Path

import click

from simulator.cli.failures import EnvironmentProblem
from simulator.config import DEFAULT_KUBELET_VERSION
from simulator.core.behavior import Behavior, CheckpointFormat
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.parse import parse
from simulator.core.checkpoint.recognition import inspect
from simulator.core.checkpoint.render import render
from simulator.core.devices import HEALTHY, DeviceId
from simulator.core.releases import spans, spans_text
from simulator.core.resources import ResourceName
from simulator.core.switches import behavior_for
from simulator.core.transitions import NodeName
from simulator.errors import CheckpointError, ConfigError
from simulator.ports import StoreReader


def exported(
    store: StoreReader,
    node: NodeName,
    *,
    behavior: Behavior | None = None,
    form: CheckpointFormat | None = None,
) -> bytes:
    """Return the file of a node: the imported one as long as the node is as it was imported.

    After a change, or in another format, it is written from the rows: imported entries first, new
    ones after them, ids in stored order; registered are the healthy devices that the plugins list
    (S4.4).

    Args:
        store: The database.
        node: Whose file.
        behavior: The kubelet version that it is for: its format unless `form` says otherwise, and
            its JSON escapes.
        form: The format.

    Raises:
        ConfigError: The node is not known.
    """
    state = store.load(node)
    if not state.revision:
        reason = f"no node {node} is known; `rebind get nodes` shows those that are"
        raise ConfigError(reason)
    wanted = form or (behavior.checkpoint_written if behavior else None)
    imported = store.imported_checkpoint(node)
    if (
        imported is not None
        and imported.revision == state.revision
        and (wanted is None or _is_of(imported.content, wanted))
    ):
        return imported.content
    behavior = behavior or behavior_for(DEFAULT_KUBELET_VERSION)
    healthy: dict[ResourceName, list[DeviceId]] = {name: [] for name in state.registered}
    for device in store.devices(node=node):
        if device.listed and device.health == HEALTHY and device.resource in healthy:
            healthy[device.resource].append(device.device)
    checkpoint = checkpoint_of(
        state.bindings, list(healthy.items()), wanted or behavior.checkpoint_written
    )
    return render(checkpoint, legacy_escapes=behavior.legacy_json_escapes)


def _is_of(content: bytes, form: CheckpointFormat) -> bool:
    """Tell whether a file is of a format; one without entries is of several."""
    try:
        parse(content, {form})
    except CheckpointError:
        return False
    return True


def readers(content: bytes) -> str:
    """Return the format of a file, and the kubelets that can read it."""
    form = inspect(content).checkpoint.format
    found = spans_text(spans(lambda behavior: form in behavior.checkpoints_read))
    return f"format {form.value}, read by kubelets {found}"


def write_file(path: Path, content: bytes, *, force: bool) -> None:
    """Write a file whole or not at all; `-` is stdout.

    A link stays a link, and what is no regular file (a pipe, a device) is written to, never
    replaced by one.

    Raises:
        EnvironmentProblem: The file exists and `force` is not given.
        OSError: It cannot be written.
    """
    if str(path) == "-":
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.buffer.write(content)  # The bytes as they are, whatever the locale.
        else:
            click.echo(content.decode(), nl=False)
        return
    if path.exists() and not force:
        reason = f"{path} exists already; use --force to overwrite it"
        raise EnvironmentProblem(reason)
    try:
        _replace(path.resolve(), content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _replace(path: Path, content: bytes) -> None:
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
