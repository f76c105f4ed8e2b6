"""`rebind plugin`: device plugins that Rebind brings along, in the foreground or in a server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

import click
from typing_extensions import override

from plugins.kinds import Kind, Setting, build_plugin
from plugins.options import read_span
from simulator.cli.checkpoint_files import FileName
from simulator.cli.commands.plugin.hosted import list_hosted, start, stop
from simulator.cli.commands.plugin.kinds import KindCommands, flags_of, help_of, pairs_of
from simulator.cli.commands.plugin.running import run_plugin
from simulator.cli.examples import example
from simulator.cli.failures import EnvironmentProblem
from simulator.cli.lists import Read
from simulator.cli.node_folders import node_folder
from simulator.config import DEFAULT_ROOT_DIR, PLUGIN_DIRECTORY, REGISTRY_DIRECTORY
from simulator.core.instants import Duration

_BRIEFLY: Final = "--run-for 10ms"


@click.group(epilog=example(f"rebind plugin run fake --count 4 {_BRIEFLY}"))
def plugin() -> None:
    """Run device plugins that Rebind brings along: in the foreground, or inside a server."""


def _place_options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--socket-dir"],
            type=FileName(path_type=Path),
            metavar="DIR",
            help="The kubelet's plugin directory; left out: the one of --node.",
        ),
        click.Option(["--node"], metavar="NODE", help="The node, where there are several."),
        click.Option(
            ["--root-dir"],
            type=FileName(path_type=Path),
            default=DEFAULT_ROOT_DIR,
            show_default=True,
            metavar="DIR",
            help="Where `rebind serve` keeps its nodes.",
        ),
        click.Option(
            ["--run-for"],
            type=Read("DURATION", read_span),
            metavar="DURATION",
            help="End by itself after so long; left out: at Ctrl-C.",
        ),
    ]


class _RunCommands(KindCommands):
    """Runs a plugin of a kind."""

    @override
    def make(self, kind: Kind) -> click.Command:
        def run(
            *,
            socket_dir: Path | None,
            node: str | None,
            root_dir: Path,
            run_for: Duration | None,
            **values: Any,  # noqa: ANN401 - flags that the kind's options make
        ) -> None:
            plugin_dir = socket_dir or node_folder(root_dir, node) / PLUGIN_DIRECTORY
            if not plugin_dir.is_dir():
                reason = (
                    f"there is no plugin directory {plugin_dir}; start `rebind serve` first, or "
                    "name another one with --socket-dir"
                )
                raise EnvironmentProblem(reason)
            setting = Setting(
                plugin_dir=plugin_dir,
                registry_dir=plugin_dir.absolute().parent / REGISTRY_DIRECTORY,
            )
            group = build_plugin(kind.name, pairs_of(kind, values), setting)
            asyncio.run(run_plugin(group, for_at_most=run_for))

        return click.Command(
            kind.name,
            callback=run,
            params=[*flags_of(kind), *_place_options()],
            short_help=f"{kind.summary}.",
            help=help_of(kind),
            epilog=example(f"rebind plugin run {kind.name} {kind.example} {_BRIEFLY}"),
        )


@plugin.group(cls=_RunCommands, epilog=example(f"rebind plugin run fake --count 4 {_BRIEFLY}"))
def run() -> None:
    """Run a plugin in the foreground, until Ctrl-C.

    It makes its socket in the kubelet's plugin directory, registers, and registers again after
    kubelet restarts; its socket is gone when it ends. A line on stderr says when it is ready, and
    one each time that a kubelet has taken it. It can be started before the kubelet.

    Exit codes: 0 it was told to end; 2 an option is not usable; 3 there is no such folder, or no
    hardware of that kind.
    """


for _command in (start, stop, list_hosted):
    plugin.add_command(_command)
