"""`rebind explain`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import click

from benchmarks.profiles.schema.profile import ChurnProfile
from scenarios.schema import explain as documentation
from scenarios.schema.fields import Model
from simulator.cli.examples import example

KINDS: Final[Mapping[str, type[Model]]] = MappingProxyType(
    {**documentation.KINDS, "churnprofile": ChurnProfile}
)
"""Every kind of file that can be explained, by its name on the command line."""


@click.command(
    epilog=example(
        "rebind explain scenario.spec.steps",
        "rebind explain churnprofile.spec.matrix",
        "rebind explain trace.PluginCalled",
    )
)
@click.argument("path", required=False, metavar="[KIND[.KEY]...]")
def explain(path: str | None) -> None:
    """Print what a kind of file, or a key in it, means.

    Without an argument the kinds are listed.
    """
    text = documentation.list_of(KINDS) if path is None else documentation.explain(path, KINDS)
    click.echo(text)
