"""Short runs whose outcome depends on a switch: of a device manager, or of one decision of it.

Each returns what is to be seen under a behavior; a crash of the kubelet is seen too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from simulator.core.affinity import split_by_affinity
from simulator.core.allocate_response import AllocateResponse, encode
from simulator.core.behavior import Behavior, CheckpointFormat
from simulator.core.calls import AllocateCall, AllocateReply, PluginReply
from simulator.core.checkpoint.bindings import checkpoint_of
from simulator.core.checkpoint.render import render
from simulator.core.devices import NumaNode
from simulator.core.instants import MINUTE, SECOND, Duration, Instant
from simulator.core.kubelet_counts import KubeletCounts
from simulator.core.machine import Machine, TopologyOptions, TopologyPolicy, TopologyScope
from simulator.core.node_resources import resets_extended_resources
from simulator.core.panics import KubeletPanic
from simulator.core.plugin_registry import Announced, PluginRegistry, Register, SocketPath
from simulator.core.pods import Container, ContainerKind, ContainerName, Pod, PodUid
from simulator.core.records import EventEmitted
from simulator.core.registration import registration_health
from simulator.core.transitions import DeviceBinding
from simulator.engine.actions import CreatePod, StartPlugin
from simulator.engine.faults import Fault, FaultKind, Op
from tests.core.driving import GPU, MAIN, NIC, Rig, container, device, ids, pod
from tests.engine.runs import NODE, Run, a_spec, seconds
from tests.engine.runs import pod as engine_pod

CoreWitness = Callable[[Behavior], object]

POD: Final = pod("p1", {GPU: 2})
_CDI: Final = encode(AllocateResponse(cdi_devices=("example.com/gpu=g0",)))


def _file(form: CheckpointFormat, response: bytes = b"") -> bytes:
    binding = DeviceBinding(POD.uid, MAIN, GPU, {NumaNode(0): ids("g0", "g1")}, response)
    return render(checkpoint_of([binding], [(GPU, ids("g0", "g1"))], form))


def _aligned(
    behavior: Behavior,
    policy: TopologyPolicy,
    *,
    nodes: int = 2,
    scope: TopologyScope = TopologyScope.CONTAINER,
) -> Rig:
    return Rig(
        behavior=behavior,
        machine=Machine.with_nodes(nodes),
        topology=TopologyOptions(policy=policy, scope=scope),
    )


def _admitted(rig: Rig, created: Pod) -> str:
    """Return the message of a pod's admission, and the crash of the kubelet for it."""
    try:
        return rig.admit(created).message
    except KubeletPanic as panic:
        return f"crash: {panic.record.detail}"


def start_with_files_of_other_versions(behavior: Behavior) -> object:
    """1.20.2 list 26 and 27, S4.15: what is found in the file of 1.19, and in that of 1.20."""
    found = []
    for form in (CheckpointFormat.V1, CheckpointFormat.V2):
        rig = Rig(behavior=behavior, file=_file(form))
        found.append((rig.start().error, rig.held("p1")))
    return found


def write_an_id_with_a_backspace(behavior: Behavior) -> object:
    """1.20.2 list 24: how Go's JSON escapes it."""
    rig = Rig(behavior=behavior)
    rig.plug(GPU, "g\b0")
    return rig.file


def read_a_response_of_a_wrong_wire_type(behavior: Behavior) -> object:
    """1.32.10 list: `CAE=`, a known field with another wire type."""
    rig = Rig(behavior=behavior, file=_file(behavior.checkpoint_written, b"\x08\x01"))
    return rig.start().skipped, rig.held("p1")


def start_a_container_with_cdi_devices(behavior: Behavior) -> object:
    """S10.6: what the runtime is told."""

    def answer(call: AllocateCall) -> PluginReply:
        del call
        return AllocateReply(_CDI)

    rig = Rig(behavior=behavior, on_allocate=answer)
    rig.plug(GPU, "g0", "g1")
    rig.admit(POD)
    return rig.run(rig.manager.run_options(POD, MAIN))


def cdi_devices_of_a_file(behavior: Behavior) -> object:
    """1.20.2 list 23: an unknown field is lost when the file is written again; S10.6."""
    rig = Rig(behavior=behavior, file=_file(behavior.checkpoint_written, _CDI))
    rig.start()
    rig.plug(GPU, "g0", "g1")
    return rig.file, rig.run(rig.manager.run_options(POD, MAIN))


def readmission_with_other_devices(behavior: Behavior) -> object:
    """R74: the plugin is back with other ids."""
    rig = Rig(behavior=behavior)
    rig.plug(GPU, "g0", "g1")
    rig.admit(POD)
    rig.start()
    rig.plug(GPU, "g8", "g9")
    return _admitted(rig, POD)


def container_start_before_the_plugin_is_back(behavior: Behavior) -> object:
    """R13."""
    rig = Rig(behavior=behavior)
    rig.plug(GPU, "g0", "g1")
    rig.admit(POD)
    rig.start()
    return rig.run(rig.manager.run_options(POD, MAIN)).error


def admission_after_the_resource_has_gone(behavior: Behavior) -> object:
    """Step C: somebody still holds devices of a resource without a list."""
    rig = Rig(behavior=behavior)
    rig.plug(GPU, "g0", "g1")
    rig.admit(pod("holder", {GPU: 1}))
    rig.manager.disconnect(GPU)
    rig.pass_time(Duration(6 * MINUTE))
    rig.run(rig.manager.expire_endpoints())
    return _admitted(rig, POD)


def device_vanishes_during_allocate(behavior: Behavior) -> object:
    """S3.14, X16."""
    rig = Rig(behavior=behavior)
    rig.plug(GPU, "g0", "g1")
    rig.meanwhile = lambda: rig.report(GPU, "g1")
    return _admitted(rig, POD), rig.held("p1")


def limit_that_a_claim_serves(behavior: Behavior) -> object:
    """S3.6."""
    rig = Rig(behavior=behavior)
    rig.plug(GPU, "g0", "g1")
    claimed = Container(MAIN, ((GPU, 1),), claimed_resources=frozenset({GPU}))
    return _admitted(rig, Pod(PodUid("p1"), "p1", containers=(claimed,))), len(rig.calls)


def init_devices_without_a_holder(behavior: Behavior) -> object:
    """1.20.2 list 9, trace 305: the record is collected between init container and container."""
    rig = Rig(behavior=behavior)
    created = pod("p1", container("init", {GPU: 1}, ContainerKind.INIT), {GPU: 1})
    rig.plug(GPU, "g0", "g1")
    rig.facts.active_pods.add(created)
    rig.run(rig.manager.allocate(created, ContainerName("init")))
    rig.end("p1")
    rig.run(rig.manager.release_inactive())
    try:
        return rig.run(rig.manager.allocate(created, MAIN))
    except KubeletPanic as panic:
        return panic.record.detail


def last_holder_goes_while_the_plugin_is_asked(behavior: Behavior) -> object:
    """R107: the set of allocated devices is dropped and then written into."""
    rig = Rig(behavior=behavior)
    rig.plug(GPU, "g0", preferred=True)
    rig.plug(NIC, "n0")
    rig.admit(pod("gone", {NIC: 1}))

    def rebuild() -> None:
        rig.end("gone")
        rig.run(rig.manager.release_inactive())

    rig.meanwhile = rebuild
    return _admitted(rig, pod("p1", {GPU: 1}))


def limit_of_zero_at_container_start(behavior: Behavior) -> object:
    """R124, 1.20.2 list 18."""
    rig = Rig(behavior=behavior)
    rig.plug(GPU, "g0", pre_start=True)
    nothing = pod("p1", {GPU: 0})
    rig.admit(nothing)
    return rig.run(rig.manager.run_options(nothing, MAIN)).error


def start_of_a_pod_that_is_not_active(behavior: Behavior) -> object:
    """1.20.2 list 17, trace 125."""
    rig = Rig(behavior=behavior)
    rig.plug(GPU, "g0", "g1")
    rig.run(rig.manager.run_options(POD, MAIN))
    return rig.held("p1")


def restart_of_an_aligned_pod(behavior: Behavior) -> object:
    """Issue 84479: all devices of its node are its own."""
    rig = _aligned(behavior, TopologyPolicy.RESTRICTED)
    devices = (device("g0", nodes=[0]), device("g1", nodes=[0]))
    rig.plug(GPU, *devices)
    rig.admit(POD)
    rig.start(sources_ready=False)
    rig.plug(GPU, *devices)
    return _admitted(rig, POD)


def topology_without_nodes(behavior: Behavior) -> object:
    """R100, 1.20.2 list 13."""
    rig = _aligned(behavior, TopologyPolicy.SINGLE_NUMA_NODE)
    rig.plug(GPU, device("g0", nodes=[]), device("g1", nodes=[]))
    return _admitted(rig, POD)


def two_resources_without_a_common_node(behavior: Behavior) -> object:
    """1.32.10 list 5, extra trace 131: which nodes the hint is merged to."""
    rig = _aligned(behavior, TopologyPolicy.BEST_EFFORT)
    rig.plug(GPU, device("g0", nodes=[0]))
    rig.plug(NIC, device("n0", nodes=[1]))
    rig.admit(pod("p1", {GPU: 1, NIC: 1}))
    return rig.manager.affinity(POD.uid, MAIN)


def sidecar_beside_a_container_in_pod_scope(behavior: Behavior) -> object:
    """1.20.2 list 15: two devices at a time, or one after the other."""
    rig = _aligned(behavior, TopologyPolicy.SINGLE_NUMA_NODE, scope=TopologyScope.POD)
    rig.plug(GPU, device("g0", nodes=[0]), device("g1", nodes=[1]))
    return _admitted(rig, pod("p1", container("side", {GPU: 1}, ContainerKind.SIDECAR), {GPU: 1}))


def hints_with_different_nodes(behavior: Behavior) -> object:
    """1.20.2 list 16, trace 312: preferred are {0} for one resource and {0,1} for the other."""
    rig = _aligned(behavior, TopologyPolicy.RESTRICTED)
    rig.plug(GPU, device("g0", nodes=[0]), device("g1", nodes=[1]))
    rig.plug(NIC, device("n0", nodes=[0]))
    return _admitted(rig, pod("p1", {GPU: 2, NIC: 1}))


def device_on_two_nodes(behavior: Behavior) -> object:
    """1.20.2 list 12: the order of nodes decides, in which 0 comes before the aligned 1."""
    spread = device("g0", nodes=[0, 1])
    return split_by_affinity(
        [spread.id],
        affinity=0b10,
        devices={spread.id: spread},
        behavior=behavior,
        node_order=lambda nodes: nodes,
    )


def extended_resources_at_start(behavior: Behavior) -> object:
    """S2.16: with an empty plugin directory, and with a checkpoint in it."""
    reset = behavior.extended_resource_reset
    return [resets_extended_resources(reset, names) for names in ([], ["kubelet_checkpoint"])]


def allocatable_with_an_unhealthy_device(behavior: Behavior) -> object:
    """S8.10, R106."""
    rig = Rig(behavior=behavior)
    rig.plug(GPU, "g0", device("g1", "Unhealthy"))
    return rig.manager.allocatable_devices()


def capacity_after_the_plugin_has_gone(behavior: Behavior) -> object:
    """S2.5, R29: after a minute, and after five and a bit."""
    rig = Rig(behavior=behavior)
    rig.plug(GPU, "g0")
    rig.manager.disconnect(GPU)
    seen = []
    for span in (MINUTE, 4 * MINUTE, 1):
        rig.pass_time(Duration(span))
        seen.append(rig.manager.capacity().total)
    return seen


def file_of_a_write_that_a_crash_cut_off(behavior: Behavior) -> object:
    """S1.9, S4.9: what the next kubelet leaves of it in the plugin directory."""
    fault = Fault(FaultKind.CRASH, Op.FSYNC, nth=2, duration=seconds(5))
    spec = replace(a_spec(engine_pod("trainer")), behaviors=lambda _: behavior)
    run = Run(spec, faults=(fault,))
    run.do(StartPlugin("gpu"))
    run.begin(CreatePod("trainer"))
    run.wait(30)
    return run.simulation.files(NODE)


def counters_after_a_refused_pod(behavior: Behavior) -> object:
    """S11."""
    counts = KubeletCounts(behavior, TopologyOptions())
    counts.take(EventEmitted("Warning", "UnexpectedAdmissionError", "", POD.uid))
    return counts.rejections


def watched_plugin_whose_registration_failed(behavior: Behavior) -> object:
    """S1.35: what is done with it two seconds later."""
    registry = PluginRegistry(retried=behavior.watched_plugins_retried)
    registry.socket_made(SocketPath("/registry/gpu.sock"), Instant(0))
    for operation in registry.reconcile(Instant(0)):
        if isinstance(operation, Register):
            registry.record(operation, Announced("DevicePlugin", GPU, "", ("v1beta1",)))
            registry.registration_failed(operation)
        registry.end(operation, Instant(0), failed=True)
    return registry.reconcile(Instant(2 * SECOND))


def health_before_the_registration_server_has_started(behavior: Behavior) -> object:
    """S1.11, 1.32.10 list."""
    return registration_health(behavior, serving=False, failed=False)
