"""`rebind apply`."""

from __future__ import annotations

import click

from simulator.cli.examples import example
from simulator.cli.manifest_files import files_option, read_file
from simulator.cli.server_options import Where, server_options
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.reports.text import printable


@click.command(epilog=example("rebind apply -f trainer.yaml"))
@files_option(required=True)
@click.option("--wait", is_flag=True, help="Return when each new pod runs, was refused, or waits.")
@server_options
def apply(*, files: tuple[str, ...], wait: bool, where: Where) -> None:
    """Create the pods of plain manifests in a running server.

    Taken are v1 Pod and List, Deployment, ReplicaSet and Job; all objects of a file are created, or
    none. What is there already stays if the file says the same; a changed manifest is refused,
    since devices cannot be changed in a running pod.

    Containers are simulated: nothing is executed. They end half a second after they are told to,
    or as late as the annotation `rebind.internal/termination-time: 20s` says.
    """
    with where.client() as client:
        for file in files:
            content, name = read_file(file)
            request = control.ApplyRequest(manifest=content, name=name, wait=wait)
            for applied in client.call(methods.APPLY, request).objects:
                click.echo(printable(f"{applied.name} {applied.outcome}"))
