"""Who held what over time, as one HTML page: sentences, a timeline, and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from simulator.core.instants import format_duration
from simulator.core.plurals import counted
from simulator.ports import Change, Holding
from simulator.reports.pages.page import embedded, page
from simulator.reports.pages.timeline_data import Texts, document, timeline_data
from simulator.reports.store_text import instant_text, pod_text
from simulator.reports.timelines.holdings import holdings_timeline


@dataclass(frozen=True, slots=True)
class HoldingView:
    """One row of the table.

    Attributes:
        lasted: Empty while it lasts.
    """

    node: str
    resource: str
    device: str
    pod: str
    containers: str
    since: str
    since_revision: int
    until: str
    until_revision: int | None
    lasted: str
    boot: str
    disputed: bool


@dataclass(frozen=True, slots=True)
class HoldingsView:
    """The whole page.

    Attributes:
        data: The timeline for the page's script; empty when there is nothing to draw.
    """

    heading: str
    sentences: tuple[str, ...]
    holdings: tuple[HoldingView, ...]
    data: Markup
    records: str


def holdings_page(
    heading: str, nothing: str, holdings: Sequence[Holding], changes: Sequence[Change]
) -> str:
    """Return the page.

    Args:
        heading: What was asked, e.g. `Who held gpu-0`.
        nothing: What to say when nothing is known, e.g. `nobody holds gpu-0`.
        holdings: In order.
        changes: What the history says of them and of the boots of their nodes, by revision.
    """
    line = holdings_timeline(holdings, changes)
    texts = Texts()
    data = document(texts, [timeline_data(line, texts, instant_text)])
    view = HoldingsView(
        heading=heading,
        sentences=tuple(_sentences(nothing, holdings)),
        holdings=tuple(map(_row, holdings)),
        data=embedded(data if texts.all() else None),
        records=counted(len(line.entries), "change"),
    )
    return page("holdings.html.jinja", title=f"{heading} - Rebind", view=view)


def _sentences(nothing: str, holdings: Sequence[Holding]) -> list[str]:
    if not holdings:
        return [f"{nothing[0].upper()}{nothing[1:]}."]
    now = [holding for holding in holdings if holding.until is None]
    pods = len({holding.pod.uid for holding in holdings})
    devices = len({(holding.node, holding.resource, holding.device) for holding in holdings})
    first = instant_text(min(one.since for one in holdings))
    past = (
        f"{counted(len(holdings), 'holding')} of {counted(devices, 'device')} "
        f"by {counted(pods, 'pod')} known, the first since {first}."
    )
    return [_now(now), past]


def _now(now: Sequence[Holding]) -> str:
    if not now:
        return "Nothing of this is held now."
    if len(now) == 1:
        [one] = now
        return (
            f"{pod_text(one.pod)} holds {one.device} on {one.node} since {instant_text(one.since)}."
        )
    pods = list(dict.fromkeys(pod_text(one.pod) for one in now))
    disputed = sum(one.disputed for one in now)
    dispute = f"; {disputed} of them disputed" if disputed else ""
    holders = pods[0] if len(pods) == 1 else counted(len(pods), "pod")
    verb = "holds" if len(pods) == 1 else "hold"
    return f"{holders} {verb} {counted(len(now), 'device')} now{dispute}."


def _row(holding: Holding) -> HoldingView:
    return HoldingView(
        node=holding.node,
        resource=holding.resource,
        device=holding.device,
        pod=pod_text(holding.pod),
        containers=", ".join(holding.containers),
        since=instant_text(holding.since),
        since_revision=holding.since_revision,
        until="" if holding.until is None else instant_text(holding.until),
        until_revision=holding.until_revision,
        lasted="" if holding.until is None else format_duration(holding.until - holding.since),
        boot=holding.boot_id,
        disputed=holding.disputed,
    )
