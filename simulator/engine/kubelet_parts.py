"""What the modules of one kubelet process share."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.behavior import Behavior
from simulator.core.device_manager import DeviceManager
from simulator.core.facts import KubeletFacts
from simulator.engine.decisions import DecisionDriver
from simulator.engine.host import Host
from simulator.engine.kubelet_api import KubeletApi
from simulator.engine.local_pods import LocalPods
from simulator.engine.status_manager import StatusManager
from simulator.engine.sync_loop import SyncLoop


@dataclass(frozen=True, eq=False)
class KubeletParts:
    """The parts of one kubelet process; they end with it."""

    host: Host
    behavior: Behavior
    facts: KubeletFacts
    manager: DeviceManager
    driver: DecisionDriver
    pods: LocalPods
    api: KubeletApi
    statuses: StatusManager
    loop: SyncLoop
