"""`rebind api`: the API server, and what a real cluster needs of it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from simulator.api.dialect.custom_definition import device_binding_definition
from simulator.api.dialect.kinds import DEVICE_BINDINGS
from simulator.assembly.api_server import ApiServing, extra_api
from simulator.cli.checkpoint_files import FileName
from simulator.cli.commands.api.serving import serve_until_stopped
from simulator.cli.examples import example
from simulator.cli.output import OutputOptions, emit_plain
from simulator.cli.remote_options import RemoteChoice, remote_options
from simulator.cli.store_options import committing_options
from simulator.errors import ConfigError
from simulator.ports import Durability

_EVENTS_MAX: Final = 100_000


@click.group(epilog=example("rebind api serve --http 127.0.0.1:0"))
def api() -> None:
    """Serve a Kubernetes API of nodes, pods, events and device bindings."""


@api.command(
    epilog=example(
        "rebind api serve",
        "rebind api serve --http 127.0.0.1:0 --db sqlite:///lab.db --durability normal",
        "rebind api serve --token-file tokens.csv --kubeconfig-out rebind.kubeconfig",
    )
)
@click.option(
    "--http",
    default="127.0.0.1:9181",
    show_default=True,
    metavar="ADDRESS:PORT",
    help="Where it listens; port 0 is a free one. Beyond loopback only with --token-file.",
)
@committing_options
@click.option(
    "--token-file",
    type=FileName(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help='Lines of TOKEN,USER,UID,"GROUP,..."; then it serves TLS with a certificate of its own.',
)
@click.option(
    "--kubeconfig-out",
    type=FileName(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a kubeconfig with the first token and the certificate, whose key is kept beside it "
    "in FILE.tls.pem: later starts use it again.",
)
@click.option(
    "--retention",
    type=click.IntRange(min=100, max=_EVENTS_MAX),
    default=65_536,
    show_default=True,
    metavar="N",
    help="Changes of each kind that a watch may go back; further back it is told 410.",
)
@click.option(
    "--unique-devices",
    is_flag=True,
    help="Refuse to bind a device that another pod of the node has; Kubernetes does not.",
)
def serve(  # noqa: PLR0913 - click hands over every option
    *,
    http: str,
    db: str,
    durability: str,
    commit_batch: int,
    token_file: Path | None,
    kubeconfig_out: Path | None,
    retention: int,
    unique_devices: bool,
) -> None:
    """Run an API server until Ctrl-C or SIGTERM ends it.

    kubectl and the Kubernetes clients work with it as they are: namespaces, nodes, pods, events,
    leases, and DeviceBindings of rebind.internal/v1alpha1, which say which device a container has.
    Without tokens everybody on this machine may do everything, over plain HTTP.

    When it is ready it says so on stderr, with its URL. What it has acknowledged is in the
    database: objects and their revisions are there again when it is started anew, also after
    kill -9, and watches go on from their last revision.

    Of the users in the token file those in the group system:masters may do everything; a kubelet,
    system:node:NAME in the group system:nodes, writes what is its node's own; system:kube-scheduler
    binds pods; all others read.

    Not as in Kubernetes: it is not recorded who set which field (managedFields), so a server-side
    apply sets the fields that it names and takes none away. Containers need no image.
    """
    serving = ApiServing(
        http=http,
        db=db,
        durability=Durability(durability),
        commit_batch=commit_batch,
        token_file=token_file,
        retention=retention,
        unique_devices=unique_devices,
    )
    serve_until_stopped(serving, kubeconfig_out)


@api.command(
    name="install-crd",
    epilog=example("rebind api install-crd -o yaml"),
)
@remote_options(server="The cluster's API server, by its URL.", kubeconfig="The cluster.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(("yaml",)),
    help="Write the definition to stdout, and change nothing.",
)
def install_crd(  # noqa: PLR0913 - click hands over every option
    *,
    kubeconfig: Path | None,
    context: str,
    api_server: str | None,
    api_token_file: Path | None,
    api_ca: Path | None,
    output: str | None,
) -> None:
    """Make DeviceBindings known to a cluster, for --persistence binding-object.

    It creates the CustomResourceDefinition devicebindings.rebind.internal, or renews it, and waits
    until the cluster serves the kind. Rebind's own API server serves it without. Who does it needs
    the right to write CustomResourceDefinitions.
    """
    if output is not None:
        emit_plain(device_binding_definition(), OutputOptions(output))
        return
    chosen = RemoteChoice(api_server, api_token_file, api_ca, kubeconfig, context)
    remote = chosen.settings()
    if remote is None:
        reason = "name the cluster with --kubeconfig or with --api-server, or use -o yaml"
        raise ConfigError(reason)
    with extra_api():
        # Only who talks to a server needs what the extra installs.
        from simulator.api.client.installing import install  # noqa: PLC0415
    outcome = install(remote.endpoint)
    name = f"customresourcedefinition.apiextensions.k8s.io/{DEVICE_BINDINGS.resource}"
    click.echo(f"{name} {outcome.value}")
