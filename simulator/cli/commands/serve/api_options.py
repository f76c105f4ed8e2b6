"""Options that make the nodes clients of an API server."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from simulator.cli.checkpoint_files import FileName
from simulator.errors import ConfigError
from simulator.live.remote.choosing import api_server_at, api_server_of
from simulator.live.remote.settings import RemoteSettings

_FILE = FileName(exists=True, dir_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True)
class ApiChoice:
    """Which API server the nodes are clients of, as it was asked for.

    Attributes:
        own: Whether one in this process.
        http: Where that one listens.
        url: The URL of another one; None for none.
        token_file: The file with the token for that one.
        authority: The file of the authority that has signed its certificate.
        kubeconfig: The kubeconfig that names one; None for none.
        context: Which of its contexts; empty for the current one.
    """

    own: bool
    http: str
    url: str | None
    token_file: Path | None
    authority: Path | None
    kubeconfig: Path | None
    context: str

    @property
    def is_made(self) -> bool:
        """Whether there is to be an API server at all."""
        return self.own or self.url is not None or self.kubeconfig is not None

    @property
    def own_http(self) -> str | None:
        """Where one in this process listens; None when there is none."""
        return self.http if self.own else None

    def remote(self, record: Path | None) -> RemoteSettings | None:
        """Return the server that is not in this process; None when there is none.

        Raises:
            ConfigError: The options contradict each other, or cannot be used.
            OSError: A file cannot be read.
        """
        named = [
            name
            for name, given in (
                ("--api", self.own),
                ("--api-server", self.url is not None),
                ("--kubeconfig", self.kubeconfig is not None),
            )
            if given
        ]
        if len(named) > 1:
            reason = f"{' and '.join(named)} name different API servers; give one of them"
            raise ConfigError(reason)
        if self.is_made and record is not None:
            reason = (
                f"--record cannot be used with {named[0]}: a recording does not hold the answers "
                "of an API server, so that no replay could be equal; record without it"
            )
            raise ConfigError(reason)
        for option, given, needed in (
            ("--api-token-file", self.token_file, "--api-server"),
            ("--api-ca", self.authority, "--api-server"),
            ("--context", self.context, "--kubeconfig"),
        ):
            if given and needed not in named:
                reason = f"{option} is for {needed}, which is not given"
                raise ConfigError(reason)
        if self.url is not None:
            return api_server_at(self.url, self.token_file, self.authority)
        if self.kubeconfig is not None:
            return api_server_of(self.kubeconfig, self.context)
        return None


def api_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options; the command gets an `ApiChoice` as `api`."""

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
        **others: object,
    ) -> None:
        choice = ApiChoice(api, api_http, api_server, api_token_file, api_ca, kubeconfig, context)
        command(api=choice, **others)

    for option in reversed(_OPTIONS):
        chosen = option(chosen)
    return chosen


_OPTIONS = (
    click.option(
        "--api",
        is_flag=True,
        help="Serve a Kubernetes API in this process, with its objects in --db; the nodes are its "
        "clients, and Rebind schedules.",
    ),
    click.option(
        "--api-http",
        metavar="ADDRESS:PORT",
        default="127.0.0.1:9181",
        show_default=True,
        help="Where that API is served, on loopback; port 0 is a free one.",
    ),
    click.option(
        "--api-server",
        metavar="URL",
        help="Be clients of this API server, such as that of `rebind api serve`.",
    ),
    click.option(
        "--api-token-file", type=_FILE, metavar="FILE", help="The token for --api-server."
    ),
    click.option(
        "--api-ca",
        type=_FILE,
        metavar="FILE",
        help="The authority that has signed the certificate of --api-server.",
    ),
    click.option(
        "--kubeconfig",
        type=_FILE,
        metavar="FILE",
        help="Be clients of the API server that this file names, be it a real cluster. There is no "
        "pods/resourcebinding there: bind-resource and checkpoint+api are refused, and "
        "binding-object needs `rebind api install-crd` before.",
    ),
    click.option(
        "--context",
        default="",
        metavar="NAME",
        help="Which context of --kubeconfig  [default: the current one]",
    ),
)
