"""`rebind restart`."""

from __future__ import annotations

import click

from simulator.cli.durations import down_option
from simulator.cli.examples import example
from simulator.cli.lists import Read
from simulator.cli.server_options import Where, server_options
from simulator.cli.version_warnings import warn_of_unknown
from simulator.core.instants import Duration, format_duration
from simulator.core.switches import behavior_for
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control


@click.group(epilog=example("rebind restart kubelet n0 --down 1s"))
def restart() -> None:
    """Restart the kubelet of a node."""


def _version(text: str) -> str:
    behavior_for(text)
    return text


@restart.command(epilog=example("rebind restart kubelet n0", "rebind restart kubelet n0 --down 1s"))
@click.argument("node")
@down_option("How long no kubelet runs.")
@click.option(
    "--kubelet-version",
    "version",
    type=Read("version", _version),
    metavar="VERSION",
    help="The version that is started  [default: the one that ran]",
)
@server_options
def kubelet(*, node: str, down: Duration, version: str | None, where: Where) -> None:
    """Stop the kubelet of NODE and start it again; containers and plugins run on.

    Its sockets are gone meanwhile, and plugins have to register anew. The command ends when the
    node's pods have been admitted or refused again.
    """
    if version is not None:
        warn_of_unknown(behavior_for(version))
    request = control.RestartKubeletRequest(node=node, down_ns=down, kubelet_version=version)
    with where.client() as client:
        started = client.call(methods.RESTART_KUBELET, request)
    was_down = f" after {format_duration(down)}" if down else ""
    click.echo(f"kubelet of {node} restarted{was_down}, version {started.kubelet_version}")
