"""Rendering the whole checkpoint again and again, at the cost of what changed.

The kubelet rewrites its file after every allocation and every devices message (S4.10). A
`CheckpointRenderer` keeps the JSON and the dumped text of every entry, so that one more file costs
one join and one hash. It gives the bytes that `render` gives for the same content.

Use: `put` each binding when it is added or replaced, `remove_pods` when records are dropped, and
`render(registered)` whenever the file is written. Entries keep the order in which they were put
first; a replaced one keeps its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from simulator.core.behavior import CheckpointFormat
from simulator.core.checkpoint.bindings import entry_of
from simulator.core.checkpoint.dump import (
    assemble_dump,
    checksum,
    dump_entry,
    dump_registered,
)
from simulator.core.checkpoint.render import (
    assemble_data,
    assemble_file,
    render_entry,
    render_registered,
)
from simulator.core.devices import DeviceId
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from simulator.core.transitions import DeviceBinding

_Key = tuple[PodUid, ContainerName, ResourceName]
_Registered = tuple[tuple[ResourceName, tuple[DeviceId, ...]], ...]


class CheckpointRenderer:
    """Renders one node's checkpoint, entry by entry once and as a whole as often as asked.

    Args:
        form: V1 or V2 (`Behavior.checkpoint_written`).
        legacy_escapes: `Behavior.legacy_json_escapes`.
    """

    def __init__(self, form: CheckpointFormat, *, legacy_escapes: bool = False) -> None:
        self._form = form
        self._legacy_escapes = legacy_escapes
        self._rendered: dict[_Key, bytes] = {}
        self._dumped: dict[_Key, bytes] = {}
        self._new: dict[_Key, DeviceBinding] = {}
        self._keys_of: dict[PodUid, list[_Key]] = {}
        self._registered: _Registered | None = None
        self._registered_rendered = b""
        self._registered_dumped = b""

    def put(self, bindings: Iterable[DeviceBinding]) -> None:
        """Add entries, or replace those of the same pod, container and resource."""
        for binding in bindings:
            key = (binding.pod, binding.container, binding.resource)
            if key not in self._rendered:
                self._keys_of.setdefault(binding.pod, []).append(key)
                self._rendered[key] = self._dumped[key] = b""
            self._new[key] = binding

    def remove_pods(self, pods: Iterable[PodUid]) -> None:
        """Drop all entries of these pods; unknown pods are ignored."""
        for pod in pods:
            for key in self._keys_of.pop(pod, ()):
                del self._rendered[key], self._dumped[key]
                self._new.pop(key, None)

    def render(self, registered: Sequence[tuple[ResourceName, Sequence[DeviceId]]]) -> bytes:
        """Return the file's bytes.

        Args:
            registered: Every registered resource with its healthy ids in the order to be written;
                they are encoded again only when they differ from the last call's.
        """
        self._encode_new()
        current = tuple([(resource, tuple(ids)) for resource, ids in registered])
        if current != self._registered:
            by_name = dict(current)
            self._registered_rendered = render_registered(
                by_name, legacy_escapes=self._legacy_escapes
            )
            self._registered_dumped = dump_registered(by_name)
            self._registered = current
        rendered = self._rendered.values() if self._rendered else None
        dumped = self._dumped.values() if self._dumped else None
        text = assemble_dump(dumped, self._registered_dumped)
        data = assemble_data(rendered, self._registered_rendered)
        return assemble_file(data, checksum(text))

    def _encode_new(self) -> None:
        """Encode what was put since the last file; a start that writes nothing pays nothing."""
        for key, binding in self._new.items():
            entry = entry_of(binding, self._form)
            self._rendered[key] = render_entry(entry, legacy_escapes=self._legacy_escapes)
            self._dumped[key] = dump_entry(entry, self._form)
        self._new.clear()
