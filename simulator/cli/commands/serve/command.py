"""`rebind serve`."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from scenarios.schema.variants import Persistence, parse_persistence
from simulator.cli.checkpoint_files import FileName
from simulator.cli.commands.serve.api_options import ApiChoice, api_options
from simulator.cli.commands.serve.running import Shown, serve_until_stopped
from simulator.cli.examples import example
from simulator.cli.lists import Read
from simulator.cli.store_options import NewNodeName, committing_options
from simulator.cli.version_warnings import warn_of_unknown
from simulator.config import DEFAULT_KUBELET_VERSION, DEFAULT_ROOT_DIR
from simulator.core.behavior import Readmission
from simulator.core.machine import TopologyPolicy, TopologyScope
from simulator.core.switches import behavior_for
from simulator.core.transitions import NodeName
from simulator.engine.spec import NodeSpec, SimulationSpec
from simulator.live.settings import LiveSettings
from simulator.ports import Durability

NODES_MAX: Final = 1_000
"""Most nodes of one server."""
MESSAGE_SIZE: Final = 4 * 1024 * 1024
"""What a Go client takes unless told otherwise (S1.21)."""
_MESSAGE_SIZE_MAX: Final = 1024 * 1024 * 1024
_SEED_BITS: Final = 63


def _read_nodes(text: str) -> tuple[NodeName, ...]:
    """Read a number of nodes, or their names."""
    if text.isascii() and text.isdecimal():
        count = int(text[:9])
        if not 1 <= count <= NODES_MAX:
            reason = f"{text} nodes cannot be served; 1 to {NODES_MAX} can"
            raise ValueError(reason)
        return tuple(NodeName(f"n{number}") for number in range(count))
    names = [NewNodeName().convert(name.strip(), None, None) for name in text.split(",")]
    for name in names:
        if names.count(name) > 1:
            reason = f"the node {name} is named twice"
            raise ValueError(reason)
    return tuple(names)


def _read_version(text: str) -> str:
    behavior_for(text)
    return text


def _topology_options(command: Callable[..., None]) -> Callable[..., None]:
    policies = [policy.value for policy in TopologyPolicy]
    scopes = [scope.value for scope in TopologyScope]
    click.option(
        "--topology-manager-scope",
        "scope",
        type=click.Choice(scopes),
        default=TopologyScope.CONTAINER.value,
        show_default=True,
        help="What is aligned at once.",
    )(command)
    click.option(
        "--topology-manager-policy",
        "policy",
        type=click.Choice(policies),
        default=TopologyPolicy.NONE.value,
        show_default=True,
        help="How devices are aligned on NUMA nodes.",
    )(command)
    click.option(
        "--numa-nodes",
        type=click.IntRange(min=0, max=64),
        default=0,
        metavar="N",
        help="NUMA nodes of each machine  [default: none]",
    )(command)
    return command


@click.command(
    epilog=example(
        "rebind serve --nodes 3 --root-dir lab",
        "rebind serve --nodes gpu-0,gpu-1 --persistence checkpoint --kubelet-version 1.27.2",
        "rebind serve --api --api-http 127.0.0.1:0 --persistence bind-resource",
    )
)
@click.option(
    "--nodes",
    type=Read("nodes", _read_nodes),
    default="1",
    show_default=True,
    metavar="N|NAME,...",
    help="How many nodes, called n0, n1, ..., or their names.",
)
@click.option(
    "--root-dir",
    type=FileName(path_type=Path),
    default=DEFAULT_ROOT_DIR,
    show_default=True,
    metavar="DIR",
    help="Where each node has a folder laid out like /var/lib/kubelet. Keep it short.",
)
@click.option(
    "--kubelet-version",
    type=Read("version", _read_version),
    default=DEFAULT_KUBELET_VERSION,
    show_default=True,
    metavar="VERSION",
    help="The kubelet whose behavior the nodes have.",
)
@click.option(
    "--persistence",
    type=Read("persistence", parse_persistence),
    default="database",
    show_default=True,
    metavar="PERSISTENCE",
    help="Where bindings are kept: database, checkpoint, dual-write, or pod-status, which is the "
    "checkpoint with ids in the pods' statuses; or in the API server of --api, --api-server or "
    "--kubeconfig: bind-resource, binding-object, checkpoint+api.",
)
@committing_options
@click.option(
    "--readmission",
    type=click.Choice([policy.value for policy in Readmission]),
    default=Readmission.UPSTREAM.value,
    show_default=True,
    help="What becomes of pods whose devices are not there after a restart.",
)
@_topology_options
@click.option(
    "--http",
    metavar="ADDRESS:PORT",
    default="127.0.0.1:9180",
    show_default=True,
    help="Where /metrics and /healthz are; none for nowhere.",
)
@api_options
@click.option(
    "--record",
    type=FileName(path_type=Path),
    metavar="FILE",
    help="Write all that happens to a new file, which `rebind replay` replays in virtual time; not "
    "together with --api, --api-server or --kubeconfig.",
)
@click.option(
    "--socket-mode",
    type=click.Choice(("0600", "umask")),
    default="0600",
    show_default=True,
    help="Permissions of the nodes' sockets; umask for those of a real kubelet.",
)
@click.option(
    "--max-message-size",
    type=click.IntRange(min=1024, max=_MESSAGE_SIZE_MAX),
    default=MESSAGE_SIZE,
    show_default=True,
    metavar="BYTES",
    help="Largest message that is taken from a plugin.",
)
@click.option(
    "--allow-outside-endpoints",
    is_flag=True,
    help="Let plugins register sockets outside of the plugin directory, as a real kubelet does.",
)
@click.option("--reflection", is_flag=True, help="Serve gRPC reflection and health, for grpcurl.")
def serve(  # noqa: PLR0913 - click hands over every option
    *,
    nodes: tuple[NodeName, ...],
    root_dir: Path,
    kubelet_version: str,
    persistence: Persistence,
    db: str,
    durability: str,
    commit_batch: int,
    readmission: str,
    numa_nodes: int,
    policy: str,
    scope: str,
    http: str,
    api: ApiChoice,
    record: Path | None,
    socket_mode: str,
    max_message_size: int,
    allow_outside_endpoints: bool,
    reflection: bool,
) -> None:
    """Run nodes on real sockets, until Ctrl-C or SIGTERM ends them.

    Device plugins register with ROOT/NODE/device-plugins/kubelet.sock, agents read
    ROOT/NODE/pod-resources/kubelet.sock, and the other commands find the server by
    ROOT/rebind.sock. It needs no root, no cluster and no container runtime: containers are
    simulated, and everything that a device manager does is real.

    When it is ready it says so on stderr. Pods and bindings are there again when it is started anew
    in the same directory, also after kill -9, as after a restart of the kubelets; the plugins of
    `rebind plugin start` are to be started again.

    With --api, --api-server or --kubeconfig the pods are those of an API server: the nodes register
    there, follow their pods and write statuses, events and device bindings; `rebind apply`, `get`,
    `describe` and `delete` create, show and delete there. While it is away nodes go on with what
    they have.
    """
    remote = api.remote(record)
    api.require_for(persistence.name)
    run = SimulationSpec(
        nodes=tuple(
            NodeSpec(
                name,
                numa_nodes=numa_nodes,
                topology_manager_policy=policy,
                topology_manager_scope=scope,
            )
            for name in nodes
        ),
        kubelet_version=kubelet_version,
        persistence=persistence.name,
        persistence_options=persistence.options,
        readmission=Readmission(readmission),
        durability=Durability(durability),
        seed=secrets.randbits(_SEED_BITS),
    )
    settings = LiveSettings(
        root=root_dir,
        commit_batch=commit_batch,
        socket_mode=None if socket_mode == "umask" else int(socket_mode, 8),
        confined=not allow_outside_endpoints,
        reflection=reflection,
        receive_bytes_max=max_message_size,
        api=remote,
    )
    shown = Shown(db, None if http == "none" else http, record, api.own_http)
    warn_of_unknown(behavior_for(kubelet_version))
    serve_until_stopped(run, settings, shown)
