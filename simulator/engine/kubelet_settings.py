"""How a kubelet process of a run is configured: from the run's choices to a device manager."""

from __future__ import annotations

from simulator.core.behavior import Behavior
from simulator.core.device_manager import DeviceManager
from simulator.core.facts import KubeletFacts
from simulator.core.machine import (
    Machine,
    TopologyOptions,
    TopologyPolicy,
    TopologyScope,
    topology_start_error,
)
from simulator.core.persistence.choosing import STRATEGIES, strategy_of
from simulator.core.persistence.dual_write import DualWritePersistence
from simulator.core.persistence.protocol import Persistence
from simulator.engine.host import Host
from simulator.engine.spec import NodeSpec


def build_manager(host: Host, behavior: Behavior, facts: KubeletFacts) -> DeviceManager:
    """Return the device manager of a new kubelet process."""
    return DeviceManager(
        node=host.name,
        behavior=behavior,
        persistence=_persistence(host, behavior),
        facts=facts,
        machine=_machine(host),
        topology=topology_of(host.spec),
        choices=host.choices,
        readmission=host.run.readmission,
        reservations=host.phase.reservations,
    )


def start_error(host: Host) -> str:
    """Return why a kubelet cannot start with this configuration; empty when it can (S7.11)."""
    return topology_start_error(_machine(host), topology_of(host.spec))


def _persistence(host: Host, behavior: Behavior) -> Persistence:
    if host.strategy is not None:
        return host.strategy(behavior)
    if host.phase.is_asked:
        return DualWritePersistence(behavior, host.phase.unless_told)
    run = host.run
    name = run.persistence
    if STRATEGIES[name].migrates:
        name = "database" if host.phase.uses_database else "checkpoint"
    return strategy_of(name, dict(run.persistence_options), behavior)


def _machine(host: Host) -> Machine:
    return Machine.with_nodes(host.spec.numa_nodes)


def topology_of(node: NodeSpec) -> TopologyOptions:
    """Return the topology manager's configuration on a node."""
    return TopologyOptions(
        policy=TopologyPolicy(node.topology_manager_policy),
        scope=TopologyScope(node.topology_manager_scope),
    )
