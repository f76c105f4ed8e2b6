"""A device manager's state without a device manager, for tests of single decisions."""

from simulator.core.behavior import Behavior, Readmission, Reservations
from simulator.core.choices import SortedChoices
from simulator.core.facts import KubeletFacts
from simulator.core.inventory import Inventory
from simulator.core.machine import Machine, TopologyOptions
from simulator.core.manager_state import ManagerState
from simulator.core.persistence.database import DatabasePersistence
from simulator.core.pod_devices import PodDevices
from simulator.core.transitions import NodeName


def bare_state(
    *,
    behavior: Behavior | None = None,
    reservations: Reservations = Reservations.UPSTREAM,
) -> ManagerState:
    """Return the state of a kubelet that has heard of nothing."""
    inventory = Inventory()
    return ManagerState(
        node=NodeName("n0"),
        behavior=behavior or Behavior(),
        persistence=DatabasePersistence(),
        facts=KubeletFacts(sources_ready=True),
        machine=Machine(),
        topology=TopologyOptions(),
        choices=SortedChoices(),
        readmission=Readmission.UPSTREAM,
        reservations=reservations,
        inventory=inventory,
        pod_devices=PodDevices(inventory),
    )
