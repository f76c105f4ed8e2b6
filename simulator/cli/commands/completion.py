"""`rebind completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from simulator.cli.examples import example


@click.command(epilog=example("rebind completion zsh"))
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell, to be read by its start-up file."""
    completer = get_completion_class(shell)
    if completer is not None:
        root = context.find_root().command
        click.echo(completer(root, {}, "rebind", "_REBIND_COMPLETE").source())
