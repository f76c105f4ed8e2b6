"""`rebind db`: the schema and the soundness of a database."""

from __future__ import annotations

from typing import Final

import click

from simulator.cli.examples import example
from simulator.cli.failures import CHECK_FAILED
from simulator.cli.output import Column, OutputOptions, Table, emit, output_options
from simulator.cli.store_options import COUNT_MAX, db_option
from store import maintenance, revisions
from store.maintenance import Finding
from store.retention import CHANGES_MAX
from store.tables import SCHEMA_REVISION

_FINDINGS: Final[Table[Finding]] = Table(
    kind="Finding",
    columns=(
        Column("CHECK", lambda finding: finding.subject),
        Column("RESULT", lambda finding: "; ".join(finding.problems) or "ok"),
        Column("SEEN", lambda finding: finding.note),
    ),
    name=lambda finding: finding.subject,
    document=lambda finding: {
        "check": finding.subject,
        "ok": not finding.problems,
        "problems": list(finding.problems),
        "seen": finding.note,
    },
    nothing="nothing was checked",
)


@click.group(epilog=example("rebind db check --db sqlite:///rebind.db"))
def db() -> None:
    """Look after a database: its schema and its soundness."""


@db.command(epilog=example("rebind db upgrade"))
@click.argument("revision", default="head")
@db_option
def upgrade(revision: str, db: str) -> None:
    """Bring the schema up to REVISION, the newest one by default.

    A database that does not exist is made.
    """
    click.echo(f"schema {revisions.upgrade(db, revision)}")


@db.command(epilog=example("rebind db downgrade 0001"))
@click.argument("revision")
@db_option
def downgrade(revision: str, db: str) -> None:
    """Bring the schema down to REVISION; `base` drops everything."""
    click.echo(f"schema {revisions.downgrade(db, revision) or 'none'}")


@db.command(epilog=example("rebind db current"))
@db_option
def current(db: str) -> None:
    """Show the schema's revision, and the one that this program needs."""
    found = maintenance.revision_of(db) or "none"
    newest = "" if found == SCHEMA_REVISION else f" (needed: {SCHEMA_REVISION})"
    click.echo(f"schema {found}{newest}")


@db.command(epilog=example("rebind db check", "rebind db check -o json"))
@db_option
@output_options("table", "json", "yaml")
@click.pass_context
def check(context: click.Context, *, db: str, output: OutputOptions) -> None:
    """Look whether the database is sound: schema, pages, references, write-ahead log.

    On PostgreSQL every value is read, and what indexes forbid is looked for without them.

    Exit codes: 0 sound, 1 something is wrong, 3 it cannot even be opened.
    """
    findings = maintenance.examine(db)
    emit(_FINDINGS, findings, output)
    if any(finding.problems for finding in findings):
        context.exit(CHECK_FAILED)


@db.command(epilog=example("rebind db recover"))
@db_option
def recover(db: str) -> None:
    """Go on with what a damaged write-ahead log still holds.

    Commits after the damage are lost; without damage this changes nothing. A PostgreSQL server
    does as much by itself when it starts.
    """
    readable = maintenance.recover(db)
    if readable is None:
        click.echo("nothing to recover: a PostgreSQL server replays its log by itself")
    else:
        click.echo(f"recovered; {readable} commits of the log are in the database")


@db.command(epilog=example("rebind db compact --keep 1000"))
@click.option(
    "--keep",
    type=click.IntRange(min=1, max=COUNT_MAX),
    default=CHANGES_MAX,
    show_default=True,
    metavar="N",
    help="How many of the newest changes are kept, and up to a segment of an hour more.",
)
@db_option
def compact(keep: int, db: str) -> None:
    """Drop old history now. A writer does the same by itself, little by little.

    Who holds what now is kept, however old, and so are the objects of an API server; of their
    former states no more are kept than a writer keeps. PostgreSQL also gets the space back at once
    (VACUUM), while others read.
    """
    click.echo(f"dropped {maintenance.compact(db, keep=keep)} changes")
