"""Runs as one HTML page; the only part of the benchmark that needs Jinja2."""

from __future__ import annotations

import json
from collections.abc import Sequence

from benchmarks.results.findings import LEADS, findings
from benchmarks.results.merging import Merged, merge
from benchmarks.results.naming import Naming
from benchmarks.results.noise_text import (
    cell_notes,
    fsync_line,
    incomplete_line,
    machine_lines,
    noise_line,
)
from benchmarks.results.plots import plots
from benchmarks.results.plotting import Figure
from benchmarks.results.quantities import QUANTITIES, Quantity, text
from benchmarks.results.rows import Result
from simulator.core.plurals import counted
from simulator.reports.pages.benchmark_page import (
    LegendView,
    PlotView,
    RunView,
    TableView,
    benchmark_html_page,
    drawn,
)

_NOT_KNOWN = "-"


def benchmark_page(results: Sequence[Result]) -> str:
    """Return the page of runs."""
    runs = []
    figures = 1
    for number, result in enumerate(results, 1):
        merged = merge(result.rows)
        shown = plots(merged, figures)
        figures += len(shown)
        runs.append(_run(f"r{number}", result, merged, shown))
    heading = results[0].name if len(results) == 1 else counted(len(results), "run")
    return benchmark_html_page(heading, runs)


def _run(id_: str, result: Result, merged: Sequence[Merged], shown: Sequence[Figure]) -> RunView:
    sentences = findings(merged) or ("Nothing was measured.",)
    shared = Naming(one.setting for one in merged).shared()
    facts = [
        ("Noise", f"{fsync_line(result.noise)}; {noise_line(result.noise, result.machine)}"),
        *machine_lines(result),
        ("All rows", shared),
    ]
    return RunView(
        id=id_,
        name=result.name,
        leads=sentences[:LEADS],
        others=sentences[LEADS:],
        warning=incomplete_line(result),
        facts=tuple((name, text_) for name, text_ in facts if text_),
        plots=tuple(map(_plot, shown)),
        tables=_tables(result, merged) if merged else (),
        profile=json.dumps(result.profile, indent=2, ensure_ascii=False),
    )


def _plot(figure: Figure) -> PlotView:
    return PlotView(
        figure.title,
        figure.caption,
        tuple(map(drawn, figure.drawings)),
        tuple(LegendView(drawn(one.swatch), one.name) for one in figure.legend),
    )


def _tables(result: Result, merged: Sequence[Merged]) -> tuple[TableView, ...]:
    repetitions = max(len(one.rows) for one in merged)
    note = (
        f"Medians of {counted(repetitions, 'repetition')}, with the least and the most of them."
        if repetitions > 1
        else ""
    )
    note = " ".join(filter(None, [note, *cell_notes(merged)]))
    every = [Merged(row.setting, row.phase, (row,)) for row in result.rows]
    figures = [one for one in QUANTITIES if any(each.spread(one.of) for each in merged)]
    naming = Naming(one.setting for one in merged)
    tables = [_table("All figures", note, merged, figures, naming)]
    if repetitions > 1:
        tables.append(_table("Every repetition", "", every, figures, naming, is_open=False))
    return tuple(tables)


def _table(  # noqa: PLR0913 - one table, whose parts say what they are
    title: str,
    note: str,
    lines: Sequence[Merged],
    figures: Sequence[Quantity],
    naming: Naming,
    *,
    is_open: bool = True,
) -> TableView:
    knobs = naming.columns()
    head = [
        *((knob.header, "") for knob in knobs),
        ("PHASE", ""),
        *((one.header, one.about) for one in figures),
    ]
    return TableView(
        title=title,
        note=note,
        head=tuple(head),
        lines=tuple(
            (
                *(str(knob.value(one.setting)) for knob in knobs),
                one.phase,
                *(_cell(one, figure) for figure in figures),
            )
            for one in lines
        ),
        names=len(knobs) + 1,
        open=is_open,
    )


def _cell(one: Merged, quantity: Quantity) -> str:
    found = one.spread(quantity.of)
    if found is None:
        return _NOT_KNOWN
    bound = "≥" if one.is_bound(quantity) else ""
    middle = f"{bound}{text(found.median, quantity.form)}"
    if found.least == found.most:
        return middle
    return f"{middle} ({text(found.least, quantity.form)}..{text(found.most, quantity.form)})"
