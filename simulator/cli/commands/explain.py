"""`rebind explain`."""

from __future__ import annotations

import click

from scenarios.schema.explain import explain as documentation
from simulator.cli.examples import example


@click.command(
    epilog=example("rebind explain scenario.spec.steps", "rebind explain trace.PluginCalled")
)
@click.argument("path", metavar="KIND[.KEY]...")
def explain(path: str) -> None:
    """Print what a kind of file, or a key in it, means."""
    click.echo(documentation(path))
