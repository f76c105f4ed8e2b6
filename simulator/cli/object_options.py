"""Options of the commands that show the objects of a running server."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import click

from simulator.cli.object_tables import Object
from simulator.cli.output import OutputOptions, Table
from simulator.cli.watching import show_objects, watch_objects
from simulator.protocol import rebind_control_pb2 as control
from simulator.wire.control_client import ControlClient

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """Which objects are asked for, and whether their changes too."""

    name: str = ""
    node: str = ""
    selector: str = ""
    namespace: str = ""
    watch: bool = False

    @property
    def wants_server(self) -> str:
        """The option that only a server can answer; empty for none."""
        return "-w" if self.watch else "-l" if self.selector else ""


def asked_options(
    *, namespaced: bool = False, labeled: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a name, `--node`, `-w` and, if they make sense, `-l`, `-n` and `-A`, as `asked`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_asked(  # noqa: PLR0913 - click hands over every option
            *args: object,
            name: str | None,
            node: str | None,
            watch: bool,
            selector: str | None = None,
            namespace: str | None = None,
            all_namespaces: bool = False,
            **options: object,
        ) -> None:
            if all_namespaces and namespace:
                reason = f"-A shows all namespaces, and -n {namespace} one: leave one of them out"
                raise click.UsageError(reason, click.get_current_context())
            asked = Asked(name or "", node or "", selector or "", namespace or "", watch)
            command(*args, asked=asked, **options)

        click.option("-w", "--watch", is_flag=True, help="Go on with every change, until Ctrl-C.")(
            with_asked
        )
        if labeled:
            click.option(
                "-l", "--selector", metavar="LABELS", help="Only those with these labels."
            )(with_asked)
        if namespaced:
            click.option("-n", "--namespace", metavar="NAMESPACE", help="Only this namespace.")(
                with_asked
            )
            click.option(
                "-A",
                "--all-namespaces",
                is_flag=True,
                help="All namespaces, which are shown without -n anyway.",
            )(with_asked)
        click.option("--node", metavar="NODE", help="Only this node.")(with_asked)
        click.argument("name", required=False)(with_asked)
        return with_asked

    return decorate


def present(
    client: ControlClient,
    kind: str,
    asked: Asked,
    shown: tuple[Table[T], Callable[[Sequence[Object]], list[T]]],
    output: OutputOptions,
) -> None:
    """Print objects of a kind, and their changes if asked for."""
    request = control.GetRequest(
        kind=kind,
        name=asked.name,
        node=asked.node,
        selector=asked.selector,
        namespace=asked.namespace,
    )
    table, rows_of = shown
    if asked.watch:
        watch_objects(client, request, table, rows_of, output)
    else:
        show_objects(client, request, table, rows_of, output)
