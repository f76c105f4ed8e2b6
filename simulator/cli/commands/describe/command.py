"""`rebind describe`."""

from __future__ import annotations

import json
from collections.abc import Callable

import click

from simulator.cli.commands.describe.text import node_text, pod_text
from simulator.cli.examples import example
from simulator.cli.kind_words import KindGroup
from simulator.cli.object_tables import Object
from simulator.cli.output import OutputOptions, emit_plain, output_options
from simulator.cli.server_options import Where, server_options
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control


@click.group(
    cls=KindGroup, epilog=example("rebind describe pod trainer", "rebind describe node/n0")
)
def describe() -> None:
    """Show a pod or a node of a running server with all that belongs to it."""


@describe.command(
    epilog=example("rebind describe pod trainer", "rebind describe pod extra -o json")
)
@click.argument("name")
@click.option("-n", "--namespace", metavar="NAMESPACE", default="default", help="Its namespace.")
@server_options
@output_options("text", "json", "yaml", default="text", tabular=False)
def pod(*, name: str, namespace: str, where: Where, output: OutputOptions) -> None:
    """Show a pod: its state, its devices, what its containers were started with, its events.

    What a container was started with is the merge of what its plugins answered to Allocate, and
    behind it the pod's own settings. It stays what it was, whatever the plugins say later.
    """
    _show(
        where, control.DescribeRequest(kind="pod", name=name, namespace=namespace), pod_text, output
    )


@describe.command(epilog=example("rebind describe node n0", "rebind describe node n0 -o yaml"))
@click.argument("name")
@server_options
@output_options("text", "json", "yaml", default="text", tabular=False)
def node(*, name: str, where: Where, output: OutputOptions) -> None:
    """Show a node: its kubelet, its sockets, its resources, its pods, its events."""
    _show(where, control.DescribeRequest(kind="node", name=name), node_text, output)


def _show(
    where: Where,
    request: control.DescribeRequest,
    text: Callable[[Object], str],
    output: OutputOptions,
) -> None:
    with where.client() as client:
        document = json.loads(client.call(methods.DESCRIBE, request).document)
    if output.format == "text":
        click.echo(text(document))
    else:
        emit_plain(document, output)
