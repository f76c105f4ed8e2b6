"""`rebind explain`."""

from __future__ import annotations

import click

from scenarios.schema.explain import explain as documentation
from scenarios.schema.explain import kinds
from simulator.cli.examples import example


@click.command(
    epilog=example("rebind explain scenario.spec.steps", "rebind explain trace.PluginCalled")
)
@click.argument("path", required=False, metavar="[KIND[.KEY]...]")
def explain(path: str | None) -> None:
    """Print what a kind of file, or a key in it, means.

    Without an argument the kinds are listed.
    """
    click.echo(kinds() if path is None else documentation(path))
