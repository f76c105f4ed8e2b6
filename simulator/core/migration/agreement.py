"""Whether the checkpoint file and the rows of a node say the same, and which one counts if not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.differences import Differences, EntryDifference, differences
from simulator.core.checkpoint.reading import FileState
from simulator.core.migration.phases import Regime, Side
from simulator.core.plurals import counted
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding, NodeState

BindingKey = tuple[PodUid, ContainerName, ResourceName]
"""What a node has one binding for."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """A file and rows, compared.

    Attributes:
        believed: The side that counts.
        bindings: What a start restores: those of the believed side, in its order. Where both have
            the same one it is the row's, which says more: NUMA nodes that format V1 leaves out, and
            the plugin's own response.
        registered: The resources that a start restores.
        differing: Keys of the bindings that only one side has, or that differ.
        only_in_rows: Resources that only the rows have as registered.
        only_in_file: Resources that only the file has as registered.
        detail: What is different, in words; empty when nothing is.
    """

    believed: Side
    bindings: tuple[DeviceBinding, ...]
    registered: tuple[ResourceName, ...]
    differing: tuple[BindingKey, ...] = ()
    only_in_rows: tuple[ResourceName, ...] = ()
    only_in_file: tuple[ResourceName, ...] = ()
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Whether both say the same."""
        return not self.detail


def agreement(
    regime: Regime,
    file: FileState,
    rows: NodeState,
    *,
    owed: Collection[BindingKey] = frozenset(),
) -> Agreement:
    """Compare a file with rows, both of which are written under `regime`.

    A file that cannot be read is never believed; nor is a missing one, where there are rows.

    Args:
        regime: Whom to believe.
        file: As the node's kubelet version reads it.
        rows: What the database has.
        owed: Bindings under way, which are not compared.
    """
    if file.checkpoint is None:
        is_new = file.content is None and not file.error and not rows.bindings
        missing = "" if is_new and not rows.registered else "the checkpoint file is missing"
        detail = f"the checkpoint file cannot be read: {file.error}" if file.error else missing
        return Agreement(Side.DATABASE, rows.bindings, rows.registered, detail=detail)
    found = differing(file, rows, owed)
    keys = tuple((each.pod, each.container, each.resource) for each in found.entries)
    in_rows = {key_of(binding): binding for binding in rows.bindings}
    apart = frozenset(keys)
    if regime.believed is Side.DATABASE:
        bindings = rows.bindings
    else:
        bindings = tuple(
            binding if (key := key_of(binding)) in apart or key not in in_rows else in_rows[key]
            for binding in file.bindings
        )
    return Agreement(
        believed=regime.believed,
        bindings=bindings,
        registered=file.registered if regime.believed is Side.FILE else rows.registered,
        differing=keys,
        only_in_rows=tuple(each.resource for each in found.registered if each.before is None),
        only_in_file=tuple(each.resource for each in found.registered if each.after is None),
        detail=in_words(found),
    )


def differing(
    file: FileState, rows: NodeState, owed: Collection[BindingKey] = frozenset()
) -> Differences:
    """Compare a file that can be read with rows, by what its format can say.

    Of devices that are registered only the resources are compared: their ids are ignored when a
    file is read (S4.4).
    """
    form = file.form or CheckpointFormat.V2
    one, other = (
        checkpoint_of(
            [binding for binding in bindings if key_of(binding) not in owed],
            [(resource, ()) for resource in registered],
            form,
        )
        for bindings, registered in (
            (file.bindings, file.registered),
            (rows.bindings, rows.registered),
        )
    )
    return differences(one, other)


def in_words(found: Differences) -> str:
    """Say what differs: how many bindings, and the first of them."""
    only_file = [each for each in found.entries if each.after is None]
    only_rows = [each for each in found.entries if each.before is None]
    both = [each for each in found.entries if each.devices_differ or each.response_differs]
    parts = [
        f"{counted(len(entries), 'binding')} {where} ({_first(entries)})"
        for entries, where in (
            (only_file, "only in the file"),
            (only_rows, "only in the database"),
            (both, "not the same"),
        )
        if entries
    ]
    parts += [
        f"{each.resource} registered only in the {'file' if each.after is None else 'database'}"
        for each in found.registered
    ]
    return "; ".join(parts)


def _first(entries: Sequence[EntryDifference]) -> str:
    first = entries[0]
    more = ", ..." if len(entries) > 1 else ""
    return f"{first.pod}/{first.container} {first.resource}{more}"


def key_of(binding: DeviceBinding) -> BindingKey:
    """Return what a node has one binding for."""
    return binding.pod, binding.container, binding.resource


def pods_of(bindings: Iterable[DeviceBinding]) -> tuple[PodUid, ...]:
    """Return the pods of bindings, each once, in order."""
    return tuple(dict.fromkeys(binding.pod for binding in bindings))
