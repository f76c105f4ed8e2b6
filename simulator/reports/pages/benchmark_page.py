"""Benchmark runs as one HTML page: what was found, plots, and the tables behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from simulator.reports.pages.page import page


@dataclass(frozen=True, slots=True)
class LegendView:
    """The look of a line beside its name."""

    swatch: Markup
    name: str


@dataclass(frozen=True, slots=True)
class PlotView:
    """A plot, drawn for broad and for slim pages; a page shows one of the two."""

    title: str
    caption: str
    drawings: tuple[Markup, ...]
    legend: tuple[LegendView, ...]


@dataclass(frozen=True, slots=True)
class TableView:
    """A table; its first columns name a row.

    Attributes:
        title: Above it.
        note: How to read a cell; empty when that needs no words.
        head: Headers, and for each its meaning, empty when it says itself.
        names: How many of the first columns name a row.
        open: Whether it is shown before one asks for it.
    """

    title: str
    note: str
    head: tuple[tuple[str, str], ...]
    lines: tuple[tuple[str, ...], ...]
    names: int
    open: bool = True


@dataclass(frozen=True, slots=True)
class RunView:
    """One run.

    Attributes:
        leads: The sentences on top.
        others: Further sentences.
        facts: Machine, versions, seed, noise, each with its name.
        profile: What was run, as text.
    """

    id: str
    name: str
    leads: tuple[str, ...]
    others: tuple[str, ...]
    warning: str
    facts: tuple[tuple[str, str], ...]
    plots: tuple[PlotView, ...]
    tables: tuple[TableView, ...]
    profile: str


@dataclass(frozen=True, slots=True)
class BenchmarkView:
    """The whole page."""

    heading: str
    runs: tuple[RunView, ...]


def benchmark_html_page(heading: str, runs: Sequence[RunView]) -> str:
    """Return the page of runs."""
    view = BenchmarkView(heading, tuple(runs))
    title = f"{heading} - Rebind benchmark"
    return page("benchmark.html.jinja", title=title, view=view, styles=("report.css", "plots.css"))


def drawn(svg: str) -> Markup:
    """Return a drawing that `simulator.reports.plots` made."""
    return Markup(svg)  # noqa: S704 - every text in it is escaped where it is drawn
