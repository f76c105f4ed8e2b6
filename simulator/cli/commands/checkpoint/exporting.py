"""What `rebind checkpoint export` does: a node's state as a kubelet's file."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import click

from simulator.cli.failures import EnvironmentProblem
from simulator.cli.output_files import write_whole
from simulator.config import DEFAULT_KUBELET_VERSION
from simulator.core.behavior import Behavior, CheckpointFormat
from simulator.core.checkpoint.exporting import exported_file
from simulator.core.checkpoint.recognition import inspect
from simulator.core.releases import spans, spans_text
from simulator.core.switches import behavior_for
from simulator.core.transitions import NodeName
from simulator.errors import ConfigError
from simulator.ports import StoreReader
from simulator.store_calls import known_file


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
    behavior = behavior or behavior_for(DEFAULT_KUBELET_VERSION)
    return exported_file(state, known_file(store, state), behavior, wanted)


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
    write_whole(path, content, mode=0o600)
