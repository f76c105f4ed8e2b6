"""`rebind bench compare`: ratios in a table, and what the two runs do not share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import click

from benchmarks.results.comparing import COMPARED, Change, Comparison, Matched, compare
from benchmarks.results.merging import Merged
from benchmarks.results.naming import NONE, Naming
from benchmarks.results.quantities import Quantity, ratio_text, text
from benchmarks.results.rows import Result
from benchmarks.results.sheet import changes_csv
from simulator.cli.commands.bench.cells import Figure, deviation
from simulator.cli.commands.bench.row_table import setting_document
from simulator.cli.output import Column, JsonValue, OutputOptions, Table, emit, emit_document
from simulator.reports.text import printable

_PERCENT: Final = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)%", re.ASCII)
_MARKS: Final = {True: "", False: " ~", None: " ?"}
_TOLD_MAX: Final = 10


def read_share(text_: str) -> float:
    """Read a percentage such as `10%`.

    Raises:
        ValueError: It is none.
    """
    match = _PERCENT.fullmatch(text_.strip())
    if match is None:
        reason = f"{text_!r} is not a percentage; write e.g. 10%"
        raise ValueError(reason)
    return float(match[1]) / 100


def show_comparison(first: Result, second: Result, output: OutputOptions) -> Comparison:
    """Write the comparison to stdout, and what the runs do not share to stderr."""
    comparison = compare(first, second)
    for warning in comparison.warnings:
        click.echo(f"warning: {printable(warning)}", err=True)
    _tell_missing("the first run", comparison.only_first)
    _tell_missing("the second run", comparison.only_second)
    if output.format in {"json", "yaml"}:
        emit_document("BenchmarkComparison", comparison_document(comparison), output)
    elif output.format == "csv":
        click.echo(changes_csv(comparison), nl=False)
    else:
        emit(_table(comparison.matched, output), comparison.matched, output)
    return comparison


def tell_worse(comparison: Comparison, limit: float) -> bool:
    """Tell on stderr which figures are worse by more than a share, and return whether any is.

    Of runs that have nothing in common nobody can tell that none is.
    """
    if not comparison.matched:
        click.echo("nothing can be compared, so B may be worse by any share", err=True)
        return True
    worse = list(comparison.worse(limit))
    naming = _naming(comparison.matched)
    for matched, change in worse[:_TOLD_MAX]:
        name = f"{naming.name(matched.setting)} ({matched.phase})"
        line = (
            f"worse by more than {_percent(limit)}: {name}: {change.quantity.about} {_both(change)}"
        )
        click.echo(printable(line), err=True)
    if len(worse) > _TOLD_MAX:
        click.echo(f"and {len(worse) - _TOLD_MAX} more", err=True)
    return bool(worse)


def comparison_document(comparison: Comparison) -> dict[str, JsonValue]:
    """Return a comparison with every figure of both sides."""
    return {
        "warnings": comparison.warnings,
        "items": [_matched_document(matched) for matched in comparison.matched],
        "onlyFirst": [_missing_document(one) for one in comparison.only_first],
        "onlySecond": [_missing_document(one) for one in comparison.only_second],
    }


def _matched_document(matched: Matched) -> dict[str, JsonValue]:
    changes: dict[str, JsonValue] = {
        change.quantity.key: {
            "first": change.first.median,
            "second": change.second.median,
            "ratio": change.ratio,
            "beyondNoise": change.is_beyond,
        }
        for change in matched.changes
    }
    setting = setting_document(matched.setting)
    return {"setting": setting, "phase": matched.phase, "changes": changes}


def _missing_document(one: Merged) -> dict[str, JsonValue]:
    return {"setting": setting_document(one.setting), "phase": one.phase}


def _percent(share: float) -> str:
    return f"{share * 100:g}%"


def _tell_missing(side: str, missing: Sequence[Merged]) -> None:
    if missing:
        naming = Naming(one.setting for one in missing)
        names = [f"{naming.name(one.setting)} ({one.phase})" for one in missing]
        line = f"only in {side}: {'; '.join(names[:_TOLD_MAX])}"
        more = len(names) - _TOLD_MAX
        click.echo(printable(line) + (f"; and {more} more" if more > 0 else ""), err=True)


def _naming(matched: Sequence[Matched]) -> Naming:
    return Naming(one.setting for one in matched)


def _table(matched: Sequence[Matched], output: OutputOptions) -> Table[Matched]:
    naming = _naming(matched)
    write = _both if output.format != "table" else _ratio
    return Table(
        kind="BenchmarkChange",
        columns=(
            Column("SETTING", lambda one: naming.name(one.setting)),
            Column("PHASE", lambda one: one.phase),
            *(
                Column(one.header.removesuffix("/BINDING"), _change(one, write), if_any=True)
                for one in COMPARED
            ),
        ),
        name=lambda one: f"change/{naming.name(one.setting)}/{one.phase}",
        document=_matched_document,
        nothing="the two runs have no setting and phase in common",
    )


def _change(quantity: Quantity, write: Callable[[Change], str]) -> Callable[[Matched], str | float]:
    def shown(matched: Matched) -> str | float:
        change = matched.change(quantity)
        if change is None:
            return NONE
        ratio = float("inf") if change.ratio is None else change.ratio
        return Figure(ratio, write(change))

    return shown


def _ratio(change: Change) -> str:
    ratio = "new" if change.ratio is None else ratio_text(change.ratio)
    return f"{ratio}{_MARKS[change.is_beyond]}"


def _both(change: Change) -> str:
    first, second = (
        f"{'≥' if is_bound else ''}{text(side.median, change.quantity.form)}{deviation(side)}"
        for side, is_bound in zip((change.first, change.second), change.are_bounds, strict=True)
    )
    return f"{first} to {second}, {_ratio(change)}"
