"""What the gates of a profile say of a run, on stderr."""

from __future__ import annotations

from collections.abc import Sequence

import click

from benchmarks.profiles.gates import judge
from benchmarks.profiles.profile import Profile
from benchmarks.results.naming import Naming
from benchmarks.results.rows import Row
from simulator.reports.text import printable


def tell_gates(profile: Profile, rows: Sequence[Row]) -> bool:
    """Say on stderr which gates do not hold; nothing where a profile has none.

    Returns:
        Whether all hold.
    """
    verdicts = list(judge(profile, rows))
    failed = [one for one in verdicts if not one.passed]
    if not verdicts:
        return True
    if not failed:
        click.echo(f"gates: {len(verdicts)} of {len(verdicts)} hold", err=True)
        return True
    naming = Naming(row.setting for row in rows)
    for one in failed:
        row = one.row
        line = (
            f"gate failed: {row.phase}: {one.name} is {one.found}, wanted {one.wanted}: "
            f"{naming.name(row.setting)}"
        )
        click.echo(printable(line), err=True)
    click.echo(f"gates: {len(failed)} of {len(verdicts)} do not hold", err=True)
    return False
