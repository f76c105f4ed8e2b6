"""`rebind delete`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import click

from simulator.cli.examples import example
from simulator.cli.kind_words import kind_among
from simulator.cli.manifest_files import files_option, read_file
from simulator.cli.server_options import Where, server_options
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.reports.text import printable
from simulator.server.manifests import WORKLOADS, read_objects

_GRACE_MAX: Final = 86_400


@click.command(
    epilog=example(
        "rebind delete pod extra",
        "rebind delete -f web.yaml --no-wait",
        "rebind delete pod other --force",
    )
)
@click.argument("objects", nargs=-1, metavar="[KIND NAME...|KIND/NAME...]")
@files_option(required=False)
@click.option("-n", "--namespace", metavar="NAMESPACE", default="default", help="Their namespace.")
@click.option(
    "--grace-period",
    type=click.IntRange(min=0, max=_GRACE_MAX),
    metavar="SECONDS",
    help="Let containers end within this time  [default: the pod's own]",
)
@click.option("--force", is_flag=True, help="Delete from the API at once, whatever still runs.")
@click.option("--wait/--no-wait", default=True, help="Wait until they are gone  [default: wait]")
@server_options
@click.pass_context
def delete(  # noqa: PLR0913 - click hands over every option
    context: click.Context,
    *,
    objects: tuple[str, ...],
    files: tuple[str, ...],
    namespace: str,
    grace_period: int | None,
    force: bool,
    wait: bool,
    where: Where,
) -> None:
    """Delete pods, or Deployments, ReplicaSets and Jobs with their pods, of a running server.

    A pod ends as on a node: it keeps its devices until its containers are gone. One that is deleted
    by force leaves at once, and its devices are free while its containers may still run.
    """
    named = [
        control.ObjectName(kind=kind, name=name, namespace=namespace)
        for kind, name in _named(objects, context)
    ]
    for file in files:
        named += [
            control.ObjectName(
                kind=each.key.resource.partition(".")[0],
                name=each.key.name,
                namespace=each.key.namespace,
            )
            for each in read_objects(*read_file(file))
        ]
    if not named:
        reason = "name what to delete, such as `pod trainer`, or give its manifest with -f"
        raise click.UsageError(reason, context)
    request = control.DeleteRequest(
        objects=named, force=force, grace_period_seconds=grace_period, wait=wait
    )
    with where.client() as client:
        names = client.call(methods.DELETE, request).names
    for name in names:
        resource, _, of_object = name.partition("/")
        done = "force deleted" if force else "deleted"
        click.echo(printable(f'{resource} "{of_object}" {done}'))


def _named(objects: tuple[str, ...], context: click.Context) -> Iterator[tuple[str, str]]:
    """Yield kind and name of each; the kind stands before the names, or in each of them."""
    known = ("pod", *WORKLOADS)
    if objects and "/" not in objects[0]:
        words = [f"{objects[0]}/{name}" for name in objects[1:]]
        if not words:
            reason = f"name what to delete, such as `{objects[0]} trainer`"
            raise click.UsageError(reason, context)
    else:
        words = list(objects)
    for word in words:
        written, _, name = word.partition("/")
        kind = kind_among(written, known)
        if kind is None or not name:
            reason = f"{word!r} is not to be deleted; pod, deployment, replicaset and job are"
            raise click.UsageError(reason, context)
        yield kind, name
