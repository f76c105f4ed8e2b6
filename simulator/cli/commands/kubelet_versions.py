"""`rebind kubelet-versions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from simulator.cli.examples import example
from simulator.cli.lists import Read
from simulator.cli.output import (
    Column,
    JsonValue,
    OutputOptions,
    Table,
    emit,
    emit_document,
    output_options,
)
from simulator.cli.version_warnings import warn_of_unknown
from simulator.core.behavior import Behavior
from simulator.core.switch_rows.row import Switch
from simulator.core.switches import AREAS, behavior_for, profile_of
from simulator.reports.switch_words import (
    SwitchChange,
    all_changes,
    switch_name,
    switch_value,
    value_text,
)


def _change_document(row: SwitchChange) -> Mapping[str, JsonValue]:
    before = None if row.before is None else switch_value(row.switch, row.before)
    return {
        "release": row.release,
        "backports": list(row.backports),
        "switch": row.name,
        "area": row.area,
        "meaning": row.switch.meaning,
        "from": before,
        "to": switch_value(row.switch, row.value),
        "source": row.source,
    }


_CHANGES: Table[SwitchChange] = Table(
    kind="KubeletChange",
    columns=(
        Column("RELEASE", lambda row: row.release),
        Column("SWITCH", lambda row: row.name),
        Column("CHANGE", lambda row: row.words),
        Column("ALSO IN", lambda row: " ".join(row.backports) or "-"),
        Column("SOURCE", lambda row: row.source, wide=True),
        Column("AREA", lambda row: row.area, wide=True),
        Column("MEANING", lambda row: row.switch.meaning, wide=True),
    ),
    name=lambda row: f"change/{row.release}/{row.name}/{value_text(row.switch, row.value)}",
    document=_change_document,
    nothing="no changes",
)


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of the table of versions: their profiles, or their values of a switch."""

    name: str
    values: tuple[str, ...]
    area: str = ""
    meaning: str = ""

    @property
    def differs(self) -> bool:
        """Whether the versions have different values."""
        return len(set(self.values)) > 1


@click.command(
    "kubelet-versions",
    epilog=example(
        "rebind kubelet-versions",
        "rebind kubelet-versions 1.25.12 v1.31.3+k3s1 1.36.2 --differing",
        "rebind kubelet-versions -o wide",
    ),
)
@click.argument("versions", nargs=-1, type=Read("VERSION", behavior_for), metavar="[VERSION]...")
@click.option(
    "--differing", is_flag=True, help="With versions: only switches in which they differ."
)
@output_options()
def kubelet_versions(
    versions: tuple[Behavior, ...], *, differing: bool, output: OutputOptions
) -> None:
    """Show which kubelet release changed what, with back-ports.

    Without a VERSION there is a line for each change: the first release that has it, and the
    patches of older releases that have it too. -o wide adds who says so and what the switch means;
    [?] marks what is believed and not verified. S3.14 and the like are the rules of kubelet
    behavior that Rebind's records and `explain` name too, R01 and the like public reports, and
    `1.20.2 list 4` stands for a difference that recordings of that version have shown.

    With versions, such as 1.25.12, v1.31.3+k3s1 or trust-checkpoint, there is a line for each
    switch and a column for each version. A version's profile is named by the first release that
    behaves the same in everything.
    """
    if not versions:
        if differing:
            reason = "--differing compares versions; name two or more of them"
            raise click.UsageError(reason, click.get_current_context())
        emit(_CHANGES, all_changes(), output)
        return
    warn_of_unknown(*versions)
    if output.format in {"json", "yaml"}:
        items = [
            _profile_document(behavior, versions, differing=differing) for behavior in versions
        ]
        emit_document("KubeletProfileList", {"items": items}, output)
        return
    emit(_profile_table(versions), _profile_rows(versions, differing=differing), output)


def _profile_table(versions: Sequence[Behavior]) -> Table[_Row]:
    def value(index: int) -> Column[_Row]:
        return Column(versions[index].version.upper(), lambda row: row.values[index])

    return Table(
        kind="KubeletSwitch",
        columns=(
            Column("SWITCH", lambda row: row.name),
            *(value(index) for index in range(len(versions))),
            Column("AREA", lambda row: row.area or "-", wide=True),
            Column("MEANING", lambda row: row.meaning, wide=True),
        ),
        name=lambda row: f"switch/{row.name}",
        document=lambda row: {"name": row.name},
        nothing="the versions do not differ",
    )


def _profile_rows(versions: Sequence[Behavior], *, differing: bool) -> list[_Row]:
    profiles = tuple(profile_of(behavior) for behavior in versions)
    meaning = "the first release that behaves the same in everything"
    rows = [_Row("profile", profiles, meaning=meaning)]
    for area, switches in AREAS.items():
        for switch in switches:
            values = tuple(value_text(switch, getattr(one, switch.name)) for one in versions)
            rows.append(_Row(switch_name(switch), values, area, switch.meaning))
    return [row for row in rows if row.differs] if differing else rows


def _profile_document(
    behavior: Behavior, versions: Sequence[Behavior], *, differing: bool
) -> Mapping[str, JsonValue]:
    return {
        "kind": "KubeletProfile",
        "version": behavior.version,
        "profile": profile_of(behavior),
        "note": behavior.note,
        "switches": {
            switch_name(switch): switch_value(switch, getattr(behavior, switch.name))
            for switches in AREAS.values()
            for switch in switches
            if not differing or _differs(switch, versions)
        },
    }


def _differs(switch: Switch, versions: Sequence[Behavior]) -> bool:
    return any(getattr(one, switch.name) != getattr(versions[0], switch.name) for one in versions)
