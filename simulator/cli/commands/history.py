"""`rebind history`: who held a device, what happened to a pod."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import click
from typing_extensions import override

from simulator.cli.examples import example
from simulator.cli.html import changes_of, emit_holdings, require_html
from simulator.cli.object_tables import sourced
from simulator.cli.output import (
    FORMATS,
    Column,
    JsonValue,
    OutputOptions,
    Table,
    emit,
    output_options,
)
from simulator.cli.server_options import Where, where_options
from simulator.cli.store_options import COUNT_MAX, node_option, resource_option
from simulator.cli.store_tables import HOLDINGS
from simulator.core.instants import SECOND, Instant, parse_duration
from simulator.core.physical_ids import stands_for
from simulator.core.pods import PodUid
from simulator.core.transitions import NodeName
from simulator.ports import Change, Holding, StoreReader
from simulator.reports.store_text import instant_text, short_instant_text


class _Time(click.ParamType[Instant]):
    """An instant: RFC 3339, or a duration from the start of a run."""

    name = "time"

    @override
    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Instant:
        text = str(value)
        try:
            return Instant(parse_duration(text))
        except ValueError:
            pass
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            example = "write e.g. 2026-11-30T12:00:00Z, or 1m30s from the start of a run"
            self.fail(f"{text!r} is not a time; {example}", param, ctx)
        whole = moment.replace(microsecond=0, tzinfo=moment.tzinfo or UTC)
        return Instant(round(whole.timestamp()) * SECOND + moment.microsecond * 1_000)


def _change_document(change: Change) -> dict[str, JsonValue]:
    return {
        "revision": change.revision,
        "at": instant_text(change.at),
        "node": change.node,
        "change": change.kind,
        "podUID": change.pod,
        "detail": change.detail,
    }


_CHANGES: Final[Table[Change]] = Table(
    kind="Change",
    columns=(
        Column("REVISION", lambda change: change.revision),
        Column(
            "TIME",
            lambda change: instant_text(change.at),
            short=lambda change: short_instant_text(change.at),
        ),
        Column("NODE", lambda change: change.node),
        Column("CHANGE", lambda change: change.kind),
        Column("DETAIL", lambda change: change.detail),
    ),
    name=lambda change: f"change/{change.revision}",
    document=_change_document,
    nothing="no history",
)


@click.group(epilog=example("rebind history device gpu0", "rebind history pod pod-a"))
def history() -> None:
    """Show who held a device, or what happened to a pod.

    The history is bounded; what is older than its bound is gone. `-o html` is a page that stands
    alone, with a bar for each holding.
    """


@history.command(
    epilog=example("rebind history device gpu0 --node n0", "rebind history device gpu0 -o html")
)
@click.argument("device", metavar="ID")
@where_options
@node_option
@resource_option
@click.option("--at", type=_Time(), metavar="TIME", help="Only who held it then.")
@click.option(
    "--revision",
    type=click.IntRange(min=0, max=COUNT_MAX),
    metavar="N",
    help="Only who held it after change N.",
)
@output_options(*FORMATS, "html")
def device(  # noqa: PLR0913 - one parameter for each option
    *,
    device: str,
    where: Where,
    node: str | None,
    resource: str | None,
    at: Instant | None,
    revision: int | None,
    output: OutputOptions,
) -> None:
    """Show who held a device, named by its own id or by its physical device's."""
    if output.format == "html":
        require_html()
    when = "" if at is None and revision is None else " then"
    nothing = f"nobody is known to have held {device}{when}"
    with where.store() as (store, source):
        holdings = store.holders(node=None if node is None else NodeName(node), past=True)
        found = [
            holding
            for holding in holdings
            if device in stands_for(holding.device)
            and resource in {None, holding.resource}
            and (at is None or _lasted_at(holding, at))
            and (revision is None or _lasted_after(holding, revision))
        ]
        if output.format == "html":
            emit_holdings(f"Who held {device}{when}", nothing, found, changes_of(store, found))
            return
    emit(sourced(replace(HOLDINGS, nothing=nothing), source), found, output)


@history.command(epilog=example("rebind history pod pod-a", "rebind history pod pod-a -o json"))
@click.argument("pod", metavar="NAME")
@where_options
@node_option
@click.option("--at", type=_Time(), metavar="TIME", help="Only what happened until then.")
@click.option(
    "--revision",
    type=click.IntRange(min=0, max=COUNT_MAX),
    metavar="N",
    help="Only changes up to number N.",
)
@output_options(*FORMATS, "html")
def pod(  # noqa: PLR0913 - one parameter for each option
    *,
    pod: str,
    where: Where,
    node: str | None,
    at: Instant | None,
    revision: int | None,
    output: OutputOptions,
) -> None:
    """Show what happened to a pod, named by NAME, NAMESPACE/NAME or uid."""
    if output.format == "html":
        require_html()
    nothing = f"nothing is known of pod {pod}"
    with where.store() as (store, source):
        chosen = None if node is None else NodeName(node)
        uids = _uids(store, pod, chosen)
        changes = [
            change
            for change in _changes(store, uids, chosen, revision)
            if at is None or change.at <= at
        ]
        if output.format == "html":
            last = changes[-1].revision if changes else 0
            holdings = [
                holding
                for holding in store.holders(node=chosen, past=True)
                if holding.pod.uid in uids and holding.since_revision <= last
            ]
            emit_holdings(f"History of pod {pod}", nothing, holdings, changes)
            return
    emit(sourced(replace(_CHANGES, nothing=nothing), source), changes, output)


def _uids(store: StoreReader, name: str, node: NodeName | None) -> dict[PodUid, None]:
    return dict.fromkeys(
        each.pod.uid
        for each in store.pods(node=node)
        if name in {each.pod.uid, each.pod.name, f"{each.pod.namespace}/{each.pod.name}"}
    )


def _changes(
    store: StoreReader, uids: Iterable[PodUid], node: NodeName | None, revision: int | None
) -> list[Change]:
    changes = {
        change.revision: change
        for uid in uids
        for change in store.history(node=node, pod=uid, until_revision=revision)
    }
    return [changes[number] for number in sorted(changes)]


def _lasted_at(holding: Holding, at: Instant) -> bool:
    return holding.since <= at and (holding.until is None or at < holding.until)


def _lasted_after(holding: Holding, revision: int) -> bool:
    return holding.since_revision <= revision and (
        holding.until_revision is None or revision < holding.until_revision
    )
