"""Options that name the API server of somebody else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click

from simulator.cli.checkpoint_files import FileName
from simulator.errors import ConfigError
from simulator.live.remote.choosing import api_server_at, api_server_of
from simulator.live.remote.settings import RemoteSettings

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class RemoteChoice:
    """Which API server is meant, as it was asked for.

    Attributes:
        url: Its URL; None for none.
        token_file: The file with the token for it.
        authority: The file of the authority that has signed its certificate.
        kubeconfig: The kubeconfig that names one; None for none.
        context: Which of its contexts; empty for the current one.
    """

    url: str | None
    token_file: Path | None
    authority: Path | None
    kubeconfig: Path | None
    context: str

    def named(self) -> list[str]:
        """Return the options that name a server."""
        given = {
            "--api-server": self.url is not None,
            "--kubeconfig": self.kubeconfig is not None,
        }
        return [option for option, is_given in given.items() if is_given]

    def settings(self, *others: str) -> RemoteSettings | None:
        """Return the server; None when none is named.

        Args:
            others: Other options that name a server, and are given.

        Raises:
            ConfigError: The options contradict each other, or cannot be used.
            OSError: A file cannot be read.
        """
        named = [*others, *self.named()]
        if len(named) > 1:
            reason = f"{' and '.join(named)} name different API servers; give one of them"
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


def remote_options(*, server: str, kubeconfig: str) -> Callable[[F], F]:
    """Add the options of a `RemoteChoice` to a command, which gets each under its own name.

    Args:
        server: The help of `--api-server`.
        kubeconfig: The help of `--kubeconfig`.
    """
    file = FileName(exists=True, dir_okay=False, path_type=Path)
    options: list[Callable[[F], F]] = [
        click.option("--api-server", metavar="URL", help=server),
        click.option(
            "--api-token-file", type=file, metavar="FILE", help="The token for --api-server."
        ),
        click.option(
            "--api-ca",
            type=file,
            metavar="FILE",
            help="The authority that has signed the certificate of --api-server.",
        ),
        click.option("--kubeconfig", type=file, metavar="FILE", help=kubeconfig),
        click.option(
            "--context",
            default="",
            metavar="NAME",
            help="Which context of --kubeconfig  [default: the current one]",
        ),
    ]

    def added(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return added
