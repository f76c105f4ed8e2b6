"""`rebind plugin start`, `stop` and `list`: the plugins inside a running server."""

from __future__ import annotations

import json
from typing import Any, Final

import click
from typing_extensions import override

from plugins.kinds import KINDS, Kind
from simulator.cli.commands.plugin.kinds import KindCommands, flags_of, help_of, pairs_of
from simulator.cli.examples import example
from simulator.cli.object_options import Asked, asked_options, present
from simulator.cli.object_tables import PLUGINS, text
from simulator.cli.output import OutputOptions, output_options
from simulator.cli.server_options import Where, server_options
from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.reports.text import named, printable
from simulator.wire.control_client import ControlClient

_STATUS_LATER: Final = (
    "the node's status shows its devices, and pods that wait for them get a node, with the "
    "kubelet's next report: within 10 s (S2.15)"
)
_NODE_HELP: Final = "The node on which it runs; not needed where there is only one."


class _StartCommands(KindCommands):
    """Starts a plugin of a kind, or by its name one that was stopped."""

    @override
    def named(self, name: str) -> click.Command:
        return _restarting(name)

    @override
    def make(self, kind: Kind) -> click.Command:
        @server_options
        def run(
            *,
            node: str | None,
            name: str | None,
            where: Where,
            **values: Any,  # noqa: ANN401 - flags that the kind's options make
        ) -> None:
            pairs = [f"--{option}={value}" for option, value in pairs_of(kind, values)]
            _start(where, node=node, name=name or "", kind=kind.name, arguments=pairs)

        return click.Command(
            kind.name,
            callback=run,
            params=[
                *flags_of(kind),
                click.Option(["--node"], metavar="NODE", help=_NODE_HELP),
                click.Option(
                    ["--name"], metavar="NAME", help="What to call it  [default: its kind]"
                ),
                *_parameters(run),
            ],
            short_help=f"{kind.summary}.",
            help=help_of(kind),
            epilog=example(f"rebind plugin start {kind.name} --node n1 {kind.example}".rstrip()),
        )


def _parameters(command: object) -> list[click.Parameter]:
    """Return the options that decorators have left on a function, in the order of the help."""
    return list(reversed(getattr(command, "__click_params__", [])))


def _restarting(name: str) -> click.Command:
    """Return the command that starts a plugin again; whether there is one, its server knows."""

    @server_options
    def run(*, node: str | None, where: Where) -> None:
        _start(where, node=node, name=name, kind="", arguments=[])

    return click.Command(
        name,
        callback=run,
        params=[
            click.Option(["--node"], metavar="NODE", help=_NODE_HELP),
            *_parameters(run),
        ],
        help=f"Start the plugin {name} again, which was stopped.",
        epilog=example(f"rebind plugin start {name} --node n1"),
    )


def _start(where: Where, *, node: str | None, name: str, kind: str, arguments: list[str]) -> None:
    with where.client() as client:
        on = node or _only_node(client)
        request = control.StartPluginRequest(node=on, name=name, kind=kind, arguments=arguments)
        started = client.call(methods.START_PLUGIN, request)
    click.echo(printable(f"plugin/{started.name} started on {on}"))
    click.echo(_STATUS_LATER, err=True)


def _only_node(client: ControlClient) -> str:
    """Return the node of a server that has one.

    Raises:
        click.UsageError: It has several.
    """
    nodes = client.call(methods.GET, control.GetRequest(kind="nodes")).objects
    names = [text(json.loads(node), "metadata", "name") for node in nodes]
    if len(names) != 1:
        reason = f"there are {len(names)} nodes; name one with --node: {named(names)}"
        raise click.UsageError(reason, click.get_current_context())
    return names[0]


@click.group(
    cls=_StartCommands,
    subcommand_metavar=f"{'|'.join(KINDS)}|NAME [OPTIONS]",
    epilog=example(
        "rebind plugin start fake --node n1 --name fpga --resource-name example.com/fpga",
        "rebind plugin start nic --node n0",
    ),
)
def start() -> None:
    """Start a plugin inside the running server.

    It registers over its node's sockets like any other plugin. It ends when its node reboots, and
    comes back by itself two seconds after the kubelet. With its NAME, one that was stopped is
    started again. As on a real node, its devices are in the node's status up to 10 s later.
    """


@click.command(epilog=example("rebind plugin stop nic --node n1"))
@click.argument("name")
@click.option("--node", metavar="NODE", help=_NODE_HELP)
@server_options
def stop(*, name: str, node: str | None, where: Where) -> None:
    """Stop a plugin that runs inside the server; its devices are unhealthy from then on."""
    with where.client() as client:
        on = node or _only_node(client)
        client.call(methods.STOP_PLUGIN, control.StopPluginRequest(node=on, name=name))
    click.echo(printable(f"plugin/{name} stopped on {on}"))


@click.command("list", epilog=example("rebind plugin list --node n0"))
@server_options
@asked_options(labeled=False)
@output_options()
def list_hosted(*, where: Where, asked: Asked, output: OutputOptions) -> None:
    """Show plugins: those inside the server, and all others that are registered."""
    with where.client() as client:
        present(client, "plugins", asked, (PLUGINS, list), output)
