"""Records in words: one line for each, without time, node and type.

Pods are called by their names where the run has shown them; a checkpoint knows only uids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import singledispatch

from simulator.core import records
from simulator.core.devices import NO_NUMA_NODE
from simulator.core.plurals import counted
from simulator.core.records import Record, Stamped
from simulator.reports.text import printable

Names = Mapping[str, str]
"""Pod uid to pod name."""


def pod_names(stamped: Iterable[Stamped]) -> dict[str, str]:
    """Return the names of all pods that a run has shown."""
    return {
        str(one.record.pod): one.record.name
        for one in stamped
        if isinstance(one.record, records.PodPhaseChanged | records.PodDeleted)
    }


def sentence(record: Record, names: Names) -> str:
    """Return what a record says, printable, with names for the uids inside its messages too."""
    text = words(record, names)
    for uid, name in names.items():
        text = text.replace(uid, name)
    return printable(text)


@singledispatch
def words(record: Record, names: Names) -> str:
    """Return what a record says; each type of record has its own wording below."""
    reason = f"{type(record).__name__} of {names} has no wording"
    raise TypeError(reason)


def _join(*parts: str, sep: str = " ") -> str:
    return sep.join(part for part in parts if part)


def _pod(uid: str, names: Names) -> str:
    return names.get(uid, uid)


def _pods(uids: Iterable[str], names: Names) -> str:
    return ", ".join(_pod(uid, names) for uid in uids)


def _counts(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts) or "none"


@words.register
def _manager_started(record: records.ManagerStarted, names: Names) -> str:
    del names
    skipped = f"{counted(record.skipped, 'entry', 'entries')} skipped" if record.skipped else ""
    error = f"error: {record.error}" if record.error else ""
    return _join(
        f"from {record.source}, {counted(record.bindings, 'device binding')}",
        skipped,
        error,
        sep=", ",
    )


@words.register
def _plugin_registered(record: records.PluginRegistered, names: Names) -> str:
    del names
    return record.resource


@words.register
def _registration_refused(record: records.RegistrationRefused, names: Names) -> str:
    del names
    return f"{record.resource}: {record.message}"


@words.register
def _list_too_large(record: records.ListTooLarge, names: Names) -> str:
    del names
    devices = counted(record.devices, "device") if record.devices else "many devices"
    sizes = f"{record.size} bytes, {record.limit} can be received"
    return f"{record.resource} {devices}, {sizes}, {record.fitting} would fit"


@words.register
def _plugin_disconnected(record: records.PluginDisconnected, names: Names) -> str:
    del names
    return record.resource


@words.register
def _devices_listed(record: records.DevicesListed, names: Names) -> str:
    del names
    sick = " ".join(device.id for device in record.devices if not device.is_healthy)
    unhealthy = f"unhealthy: {sick}" if sick else ""
    return _join(f"{record.resource} {counted(len(record.devices), 'device')}", unhealthy, sep=", ")


@words.register
def _resource_expired(record: records.ResourceExpired, names: Names) -> str:
    del names
    return record.resource


@words.register
def _plugin_called(record: records.PluginCalled, names: Names) -> str:
    where = f"{_pod(record.pod, names)}/{record.container}"
    error = f"error: {record.error}" if record.error else ""
    devices = " ".join(record.devices)
    return _join(_join(record.rpc, where, record.resource, devices), error, sep=", ")


@words.register
def _devices_allocated(record: records.DevicesAllocated, names: Names) -> str:
    groups = [
        _join("" if node == NO_NUMA_NODE else f"numa {node}:", *ids)
        for node, ids in sorted(record.devices.items())
    ]
    where = f"{_pod(record.pod, names)}/{record.container}"
    return _join(where, record.resource, ", ".join(groups))


@words.register
def _topology_merged(record: records.TopologyMerged, names: Names) -> str:
    where = _join(_pod(record.pod, names), record.container or "", sep="/")
    hints = [f"{resource} {_hints(of_resource)}" for resource, of_resource in record.hints]
    chosen = _hint((record.affinity, record.preferred))
    return f"{where} hints {'; '.join(hints) or 'none'}; merged {chosen}"


def _hints(hints: tuple[records.HintRecord, ...] | None) -> str:
    return "any" if hints is None else " ".join(map(_hint, hints)) or "none"


def _hint(hint: records.HintRecord) -> str:
    """Write a hint as its NUMA nodes, with `!` when it is preferred."""
    nodes, preferred = hint
    text = "any" if nodes is None else ",".join(map(str, nodes))
    return f"{text}!" if preferred else text


@words.register
def _devices_released(record: records.DevicesReleased, names: Names) -> str:
    return _pods(record.pods, names)


@words.register
def _reservation_leaked(record: records.ReservationLeaked, names: Names) -> str:
    del names
    return _join(record.resource, *record.devices, f"({record.rule})")


@words.register
def _health_updated(record: records.HealthUpdated, names: Names) -> str:
    return _pods(record.pods, names)


@words.register
def _state_written(record: records.StateWritten, names: Names) -> str:
    del names
    size = counted(record.size, "byte" if record.target == "checkpoint" else "change")
    error = f"error: {record.error}" if record.error else ""
    return _join(f"{record.target} for {record.cause}, {size}", error, sep=", ")


@words.register
def _devices_bound(record: records.DevicesBound, names: Names) -> str:
    pod = _pod(record.pod, names)
    if record.error:
        return f"{record.target} of {pod} refused: {record.error}"
    devices = [
        f"{container} {resource} {' '.join(ids)}" for _, container, resource, ids in record.held
    ]
    return f"{record.target} of {pod}: {', '.join(devices) or 'removed'}"


@words.register
def _states_differ(record: records.StatesDiffer, names: Names) -> str:
    del names
    return f"{record.detail}; {record.believed} counts"


@words.register
def _migration_step(record: records.MigrationStep, names: Names) -> str:
    del names
    return _join(record.phase, record.detail or f"not reached: {record.error}", sep=": ")


@words.register
def _kubelet_panicked(record: records.KubeletPanicked, names: Names) -> str:
    del names
    return f"{record.detail} ({record.rule})"


@words.register
def _admission_decided(record: records.AdmissionDecided, names: Names) -> str:
    if record.admitted:
        return f"{_pod(record.pod, names)} admitted"
    verdict = "waits" if record.waiting else "refused"
    return f"{_pod(record.pod, names)} {verdict}, {record.reason}: {record.message}"


@words.register
def _step_done(record: records.StepDone, names: Names) -> str:
    del names
    return record.step


@words.register
def _kubelet_started(record: records.KubeletStarted, names: Names) -> str:
    del names
    return f"{record.version}, boot id {record.boot_id}"


@words.register
def _kubelet_stopped(record: records.KubeletStopped, names: Names) -> str:
    del names
    return record.cause


@words.register
def _kubelet_start_failed(record: records.KubeletStartFailed, names: Names) -> str:
    del names
    return record.message


@words.register
def _pod_phase_changed(record: records.PodPhaseChanged, names: Names) -> str:
    del names
    reason = _join(record.reason, record.message, sep=": ")
    return _join(f"{record.name} {record.phase}", reason, sep=", ")


@words.register
def _pod_not_created(record: records.PodNotCreated, names: Names) -> str:
    del names
    return _join(record.name, _join(record.reason, record.message, sep=": "), sep=", ")


@words.register
def _pod_deleted(record: records.PodDeleted, names: Names) -> str:
    del names
    return record.name


@words.register
def _container_changed(record: records.ContainerChanged, names: Names) -> str:
    devices = [_join(resource, *ids) for resource, ids in record.devices]
    held = f"with {', '.join(devices)}" if devices else ""
    where = f"{_pod(record.pod, names)}/{record.container}"
    return _join(_join(where, record.state, held), record.message, sep=": ")


@words.register
def _node_status_reported(record: records.NodeStatusReported, names: Names) -> str:
    del names
    return f"capacity {_counts(record.capacity)}; allocatable {_counts(record.allocatable)}"


@words.register
def _event_emitted(record: records.EventEmitted, names: Names) -> str:
    subject = _pod(record.pod, names) if record.pod is not None else ""
    return _join(_join(record.severity, record.reason, subject), record.message, sep=": ")


@words.register
def _fault_injected(record: records.FaultInjected, names: Names) -> str:
    del names
    return _join(record.fault, record.detail, sep=": ")


@words.register
def _invariant_violated(record: records.InvariantViolated, names: Names) -> str:
    del names
    whose = "by the kubelet" if record.by_kubelet else ""
    return _join(_join(record.invariant, whose), record.detail, sep=": ")
