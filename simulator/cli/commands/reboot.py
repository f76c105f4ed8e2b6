"""`rebind reboot`."""

from __future__ import annotations

import click

from simulator.cli.durations import down_option
from simulator.cli.examples import example
from simulator.cli.server_options import Where, server_options
from simulator.core.instants import Duration
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control


@click.group(epilog=example("rebind reboot node n1 --down 1s"))
def reboot() -> None:
    """Reboot a node."""


@reboot.command(epilog=example("rebind reboot node n1 --down 1s --renumber"))
@click.argument("node")
@down_option("How long the node is down.")
@click.option(
    "--renumber",
    is_flag=True,
    help="Let the plugins that the server runs come back with other device ids.",
)
@server_options
def node(*, node: str, down: Duration, renumber: bool, where: Where) -> None:
    """End the containers, the kubelet and the server's own plugins of NODE, and boot it.

    What is on disk and in the database survives. Plugins that the server runs come back two seconds
    after the kubelet, as those that are pods of a DaemonSet do; plugins in processes of their own
    are not touched. The command ends when the node's pods have been admitted or refused again.
    """
    request = control.RebootNodeRequest(node=node, down_ns=down, renumber=renumber)
    with where.client() as client:
        booted = client.call(methods.REBOOT_NODE, request)
    click.echo(f"{node} rebooted, boot id {booted.boot_id}")
