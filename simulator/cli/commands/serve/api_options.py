"""Options that make the nodes clients of an API server."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import click

from simulator.cli.commands.serve.taints import read_taints
from simulator.cli.lists import Read
from simulator.cli.remote_options import RemoteChoice, remote_options
from simulator.core.persistence.choosing import STRATEGIES
from simulator.errors import ConfigError
from simulator.live.remote.settings import SIMULATED, RemoteSettings, Taint


@dataclass(frozen=True, slots=True)
class ApiChoice:
    """Which API server the nodes are clients of, as it was asked for.

    Attributes:
        own: Whether one in this process.
        http: Where that one listens.
        other: Another one, if any.
        taints: Those that nodes register with; None for the usual ones.
    """

    own: bool
    http: str
    other: RemoteChoice
    taints: tuple[Taint, ...] | None = None

    @property
    def own_http(self) -> str | None:
        """Where one in this process listens; None when there is none."""
        return self.http if self.own else None

    def require_for(self, persistence: str) -> None:
        """Refuse to keep bindings in an API server where there is none.

        What was bound would be lost with the process, although it was acknowledged.

        Args:
            persistence: The name of the strategy.

        Raises:
            ConfigError: An API server is missing.
        """
        if STRATEGIES[persistence].in_api and not self._named():
            reason = (
                f"--persistence {persistence} keeps bindings in an API server, and none is given: "
                "what is kept there would be lost when this process ends; add --api, or name a "
                "server with --api-server or --kubeconfig"
            )
            raise ConfigError(reason)

    def remote(self, record: Path | None) -> RemoteSettings | None:
        """Return the server that is not in this process; None when there is none.

        Raises:
            ConfigError: The options contradict each other, or cannot be used.
            OSError: A file cannot be read.
        """
        named = self._named()
        if len(named) == 1 and record is not None:
            reason = (
                f"--record cannot be used with {named[0]}: a recording holds what plugins, disks "
                "and commands said, and not what an API server did, so no replay could be equal; "
                "record without it, or keep what happens to the pods with "
                "`kubectl get pods -A --watch --output-watch-events -o json`"
            )
            raise ConfigError(reason)
        remote = self.other.settings(*(["--api"] if self.own else []))
        if remote is None:
            if self.taints:
                reason = "--register-with-taints is for --api-server and --kubeconfig: give one"
                raise ConfigError(reason)
            return None
        usual = () if self.other.kubeconfig is None else (SIMULATED,)
        return replace(remote, taints=usual if self.taints is None else self.taints)

    def _named(self) -> list[str]:
        """Return the options that name an API server."""
        own = ["--api"] if self.own else []
        return [*own, *self.other.named()]


def api_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options; the command gets an `ApiChoice` as `api`."""

    @click.option(
        "--api",
        is_flag=True,
        help="Serve a Kubernetes API in this process, with its objects in --db; the nodes are its "
        "clients, and Rebind schedules.",
    )
    @click.option(
        "--api-http",
        metavar="ADDRESS:PORT",
        default="127.0.0.1:9181",
        show_default=True,
        help="Where that API is served, on loopback; port 0 is a free one.",
    )
    @remote_options(
        server="Be clients of this API server, such as that of `rebind api serve`.",
        kubeconfig="Be clients of the API server that this file names, be it a real cluster. There "
        "is no pods/resourcebinding there: bind-resource and checkpoint+api are refused, and "
        "binding-object needs `rebind api install-crd` before.",
    )
    @click.option(
        "--register-with-taints",
        type=Read("taints", read_taints),
        metavar="KEY=VALUE:EFFECT,...",
        help="Taints of nodes that register; '' for none. With --kubeconfig they have "
        "rebind.internal/simulated=true:NoSchedule unless told otherwise, so that only pods that "
        "tolerate it, or name the node, come to nodes that are none.",
    )
    @functools.wraps(command)
    def chosen(  # noqa: PLR0913 - click hands over every option
        *,
        api: bool,
        api_http: str,
        api_server: str | None,
        api_token_file: Path | None,
        api_ca: Path | None,
        kubeconfig: Path | None,
        context: str,
        register_with_taints: tuple[Taint, ...] | None,
        **others: object,
    ) -> None:
        other = RemoteChoice(api_server, api_token_file, api_ca, kubeconfig, context)
        command(api=ApiChoice(api, api_http, other, register_with_taints), **others)

    return chosen
