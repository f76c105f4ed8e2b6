"""A comparison of two kubelet versions as text and as a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from simulator.core.plurals import counted
from simulator.core.switches import profile_of
from simulator.reports.comparison import (
    ComparedScenario,
    DifferentFact,
    DifferentRow,
    DifferentSwitch,
    VersionComparison,
)
from simulator.reports.console import laid_out
from simulator.reports.documents import Json
from simulator.reports.switch_words import (
    NEVER,
    SwitchChange,
    switch_name,
    switch_value,
    value_text,
)
from simulator.reports.text import printable

_FACT_WIDTH: Final = 40
_INDENT: Final = 4


def comparison_report(comparison: VersionComparison, *, width: int, color: bool) -> str:
    """Return the comparison for people: switches, scenarios, the own node."""
    return laid_out(lambda console: _print(console, comparison), width=width, color=color)


def _print(console: Console, comparison: VersionComparison) -> None:
    first, second = comparison.first, comparison.second
    profiles = f"profiles {profile_of(first)} and {profile_of(second)}"
    heading = Text(f"kubelet {first.version} → {second.version}", style="bold")
    console.print(heading.append(f", {profiles}", style="not bold"))
    console.print()
    if comparison.switches:
        _print_switches(console, comparison)
        _print_scenarios(console, comparison.scenarios)
        for own in comparison.own:
            _print_own(console, own)
    else:
        console.print("No switch differs, so nothing can come out differently.")


def _print_switches(console: Console, comparison: VersionComparison) -> None:
    verb = "differs" if len(comparison.switches) == 1 else "differ"
    of_all = f"{len(comparison.switches)} of {comparison.switch_count} switches {verb}"
    console.print(Text(of_all, style="bold"))
    for different in comparison.switches:
        switch = different.switch
        values = [value_text(switch, value) for value in (different.first, different.second)]
        line = Text(switch_name(switch), style="cyan")
        line.append(f": {' → '.join(values)}", style="default")
        sources = "; ".join(_source(change) for change in different.changes)
        console.print(line.append(f", {sources}", style="dim"))
        console.print(Padding(Text(switch.meaning), (0, 0, 0, _INDENT)))


def _source(change: SwitchChange) -> str:
    if change.release == NEVER:
        return f"never released: {change.source}"
    ports = f" ({', '.join(change.backports)})" if change.backports else ""
    return f"since {change.release}{ports}: {change.source}"


def _print_scenarios(console: Console, scenarios: Sequence[ComparedScenario]) -> None:
    different = [one for one in scenarios if one.outcomes]
    worded = [one for one in scenarios if one.rows and not one.outcomes]
    only_records = sum(one.records_differ and not one.rows for one in scenarios)
    title = f"{_come_out(len(different), len(scenarios), 'scenario')} differently"
    if only_records:
        title += f"; {only_records} more only in how the kubelet got there"
    console.print()
    console.print(Text(title, style="bold"))
    for one in different:
        more = len(one.rows) - 1
        name = Text(one.name, style="cyan")
        console.print(name.append(f" and {counted(more, 'row')} more" if more else "", "dim"))
        _print_line(console, _row_words(one.outcomes[0]))
        _print_causes(console, one)
    if worded:
        console.print()
        title = f"{len(worded)} more only in the words of a message"
        console.print(Text(title, style="bold"))
        names = ", ".join(one.name for one in worded)
        console.print(Padding(Text(names, style="cyan"), (0, 0, 0, _INDENT)))


def _print_own(console: Console, own: ComparedScenario) -> None:
    count = _come_out(len(own.rows), own.row_count, "pod")
    console.print()
    console.print(Text(f"Your node. {own.description} {count} differently", style="bold"))
    for row in own.rows:
        _print_line(console, _row_words(row))
    _print_causes(console, own)


def _print_causes(console: Console, one: ComparedScenario) -> None:
    if one.rows and one.causes is not None:
        names = ", ".join(switch_name(switch) for switch in one.causes)
        text = f"because of {names}" if names else "because of no switch alone"
        console.print(Padding(Text(text, style="dim"), (0, 0, 0, _INDENT)))


def _come_out(some: int, of_all: int, noun: str) -> str:
    return f"{some} of {counted(of_all, noun)} {'comes' if some == 1 else 'come'} out"


def _print_line(console: Console, words: str) -> None:
    """Print one line, cut at the console's width."""
    room = console.width - _INDENT
    cut = words if cell_len(words) <= room else f"{set_cell_size(words, room - 1).rstrip()}…"
    console.print(Text(f"{'':{_INDENT}}{cut}"), soft_wrap=True)


def _row_words(row: DifferentRow) -> str:
    """Return a row in one line; the message, which may be long, stands last."""
    facts = sorted(row.facts, key=lambda fact: fact.key == "message")
    return printable(f"{row.title}: {'; '.join(_fact_words(fact) for fact in facts)}")


def _fact_words(fact: DifferentFact) -> str:
    if fact.key == "problem":
        return f"{fact.first or 'goes on'} → {fact.second or 'goes on'}"
    first, second = (
        text if len(text) <= _FACT_WIDTH else f"{text[: _FACT_WIDTH - 1]}…"
        for text in (fact.first or "-", fact.second or "-")
    )
    return f"{fact.key} {first} → {second}"


def comparison_document(comparison: VersionComparison) -> dict[str, Json]:
    """Return the comparison as a document, without its kind."""
    return {
        "versions": [
            {
                "kubeletVersion": behavior.version,
                "profile": profile_of(behavior),
                "note": behavior.note,
            }
            for behavior in (comparison.first, comparison.second)
        ],
        "switches": [_switch(different) for different in comparison.switches],
        "scenarios": [_scenario(one) for one in comparison.scenarios],
        "ownNode": [_scenario(one) for one in comparison.own],
    }


def _switch(different: DifferentSwitch) -> Json:
    switch = different.switch
    values = [switch_value(switch, value) for value in (different.first, different.second)]
    return {
        "switch": switch_name(switch),
        "area": different.area,
        "meaning": switch.meaning,
        "values": values,
        "changes": [
            {
                "release": change.release,
                "backports": list(change.backports),
                "to": switch_value(switch, change.value),
                "source": change.source,
            }
            for change in different.changes
        ],
    }


def _scenario(one: ComparedScenario) -> Json:
    return {
        "scenario": one.name,
        "description": one.description,
        "differs": bool(one.outcomes),
        "messagesDiffer": any(row.only_words for row in one.rows),
        "recordsDiffer": one.records_differ,
        "causes": None if one.causes is None else [switch_name(each) for each in one.causes],
        "expectations": one.row_count,
        "rows": [
            {
                "title": row.title,
                "facts": [
                    {"key": fact.key, "observed": [fact.first, fact.second]} for fact in row.facts
                ],
            }
            for row in one.rows
        ],
    }
