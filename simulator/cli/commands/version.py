"""`rebind version`."""

from __future__ import annotations

import platform
import sqlite3

import click

from simulator import __version__
from simulator.cli.examples import example
from simulator.cli.output import OutputOptions, emit_document, output_options
from simulator.config import DEFAULT_KUBELET_VERSION


@click.command(epilog=example("rebind version", "rebind version -o json"))
@output_options("table", "json", "yaml")
def version(output: OutputOptions) -> None:
    """Print the versions of Rebind and of what its figures depend on."""
    versions = {
        "rebind": __version__,
        "kubelet": DEFAULT_KUBELET_VERSION,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }
    if output.format == "table":
        click.echo("\n".join(f"{name} {number}" for name, number in versions.items()))
    else:
        emit_document("Version", versions, output)
