"""What is seen of pods and plugins, one function for each key of an expectation."""

from __future__ import annotations

from typing import Final

from scenarios.schema.expect import Expectation
from scenarios.sights.scene import Scene, counted, equal, long_text, of_type
from simulator.core import records
from simulator.engine.observation import PodObservation
from simulator.reports.results import Fact


def _pod(row: Expectation, scene: Scene) -> PodObservation | None:
    return scene.run.pod(row.pod or "")


_RPCS: Final = {
    "Allocate": "Allocate",
    "GetPreferredAllocation": "Preferred",
    "PreStartContainer": "PreStart",
}
"""The calls as they are shown in a narrow cell."""
_NOT_RELEASED: Final = "not released"
_MEANINGS: Final = {_NOT_RELEASED: "the pod has ended, but the records still hold its devices."}
_HOLDING: Final = ("Pending", "Running")
"""Phases of a pod that has a claim to its devices."""


def phase(row: Expectation, scene: Scene) -> list[Fact]:
    """See the pod's phase."""
    pod = _pod(row, scene)
    seen = pod.phase if pod is not None else "absent"
    return [equal("phase", seen, row.phase)]


def reason(row: Expectation, scene: Scene) -> list[Fact]:
    """See the reason in the pod's status."""
    pod = _pod(row, scene)
    return [long_text("reason", pod.reason if pod is not None else "", row.reason)]


def message(row: Expectation, scene: Scene) -> list[Fact]:
    """See the message in the pod's status."""
    pod = _pod(row, scene)
    return [long_text("message", pod.message if pod is not None else "", row.message)]


def devices(row: Expectation, scene: Scene) -> list[Fact]:
    """Count the devices that the node's records give to the pod."""
    pod = _pod(row, scene)
    return [counted(scene, "devices", pod.devices if pod else (), row.devices)]


def device_ids(row: Expectation, scene: Scene) -> list[Fact]:
    """See the ids of those devices."""
    pod = _pod(row, scene)
    seen = dict(pod.device_ids) if pod is not None else {}
    text = ", ".join(" ".join(sorted(ids)) for _, ids in sorted(seen.items())) or "no devices"
    if row.device_ids is None:
        return [Fact("deviceIDs", text)]
    wanted = {name: sorted(ids) for name, ids in row.device_ids.items()}
    holds = all(sorted(seen.get(name, ())) == ids for name, ids in wanted.items())
    shown = ", ".join(" ".join(ids) or "no devices" for _, ids in sorted(wanted.items()))
    return [Fact("deviceIDs", text, shown, holds)]


def unchanged(row: Expectation, scene: Scene) -> list[Fact]:
    """See whether the pod's containers are the same processes with the same devices."""
    pod = _pod(row, scene)
    words = {True: "unchanged", False: "changed", None: None}
    seen = words[pod is not None and pod.unchanged]
    return [equal("unchanged", str(seen), words[row.unchanged])]


def same_devices(row: Expectation, scene: Scene) -> list[Fact]:
    """See what became of the devices that the records gave to the pod before the last restart."""
    words = {True: "same devices", False: "other devices", None: None}
    pod = _pod(row, scene)
    if pod is None:
        return [
            Fact("sameDevices", "no devices", words[row.same_devices], row.same_devices is None)
        ]
    seen = _fate(pod)
    wanted = words[row.same_devices]
    same = pod.device_ids == pod.devices_before
    held = row.same_devices in (None, same)
    return [Fact("sameDevices", seen, wanted, held, meaning=_MEANINGS.get(seen, ""))]


def _fate(pod: PodObservation) -> str:
    """Say in two words what the records have for a pod, compared with before."""
    if not pod.devices_before:
        return "new devices" if pod.device_ids else "no devices"
    if not pod.device_ids:
        return "released"
    if pod.phase not in _HOLDING:
        return _NOT_RELEASED
    return "same devices" if pod.device_ids == pod.devices_before else "other devices"


def plugin_calls(row: Expectation, scene: Scene) -> list[Fact]:
    """Count the Allocate calls for the pod."""
    pod = _pod(row, scene)
    count = sum(
        record.rpc == "Allocate" and pod is not None and record.pod == pod.uid
        for record in of_type(scene, records.PluginCalled)
    )
    wanted = None if row.plugin_calls is None else f"{row.plugin_calls} Allocate"
    return [equal("pluginCalls", f"{count} Allocate", wanted)]


def calls(row: Expectation, scene: Scene) -> list[Fact]:
    """Count the calls to the plugin by RPC."""
    resource = scene.resources[row.plugin or ""]
    counts: dict[str, int] = {}
    for record in of_type(scene, records.PluginCalled):
        if record.resource == resource:
            counts[record.rpc] = counts.get(record.rpc, 0) + 1
    text = ", ".join(f"{counts[rpc]} {_RPCS[rpc]}" for rpc in sorted(counts)) or "no calls"
    if row.calls is None:
        return [Fact("calls", text)]
    holds = all(counts.get(rpc, 0) == count for rpc, count in row.calls.items())
    wanted = ", ".join(f"{count} {_RPCS[rpc]}" for rpc, count in sorted(row.calls.items()))
    return [Fact("calls", text, wanted, holds)]


def registered(row: Expectation, scene: Scene) -> list[Fact]:
    """See whether the plugin is registered."""
    words = {True: "registered", False: "not registered", None: None}
    seen = words[scene.run.plugin(row.plugin or "").registered]
    return [equal("registered", str(seen), words[row.registered])]
