"""Writes down what happens to a node of the core's own tests, as a scenario file."""

from __future__ import annotations

from scenarios.exploring.editing import ScenarioDocument
from scenarios.files.documents import Plain
from simulator.config import API_VERSION
from simulator.core.devices import Device
from simulator.core.endpoints import PluginOptions
from simulator.core.pods import Container, ContainerKind, Pod
from simulator.core.resources import ResourceName

Step = dict[str, Plain]
_BACK_SOON = "50ms"
_BACK_LATE = "5s"
_PERIOD = 20
"""Seconds from one step to the next."""


class Teller:
    """Lives through a story like a node (`tests.recovery.node.Node`) and writes it down."""

    def __init__(self) -> None:
        self.plugins: list[Step] = []
        self.pods: list[Plain] = []
        self.steps: list[Step] = []
        self._there: list[str] = []
        self._names: dict[ResourceName, str] = {}
        self._at = 0

    def plug(
        self,
        resource: ResourceName,
        *devices: Device,
        options: PluginOptions | None = None,
        is_late: bool = False,
    ) -> None:
        """A plugin registers; after a restart again."""
        name = resource.rpartition("/")[2]
        if resource in self._names:
            self._add("startPlugin", {"name": name})
            return
        self._names[resource] = name
        chosen = options or PluginOptions()
        back = _BACK_LATE if is_late else _BACK_SOON
        self.plugins.append(
            {
                "name": name,
                "resourceName": resource,
                "devices": _devices(devices),
                "preStartRequired": chosen.pre_start_required,
                "preferredAllocation": chosen.preferred_allocation,
                "reregisterAfter": back,
                "startsAfterBoot": back,
            }
        )
        self._add("startPlugin", {"name": name})

    def report(self, resource: ResourceName, *devices: Device) -> None:
        """The plugin reports another list."""
        name = self._names[resource]
        self._add("reportDevices", {"name": name, "devices": _devices(devices)})

    def disconnect(self, resource: ResourceName) -> None:
        """The plugin's stream breaks, and the plugin with it."""
        self._add("crashPlugin", {"name": self._names[resource]})

    def pass_time(self, seconds: int) -> None:
        """Nothing happens for so long."""
        self._add("advance", {"duration": f"{seconds}s"})
        self._at += seconds

    def create(self, pod: Pod) -> None:
        """A pod is bound to the node."""
        name = str(pod.uid)
        if name not in self._there:
            self._there.append(name)
            self.pods.append({"manifest": _manifest(name, pod), "node": "n0"})
            self._add("createPod", {"name": name})

    def end(self, uid: str) -> None:
        """A pod is gone."""
        if uid in self._there:
            self._there.remove(uid)
            self._add("deletePod", {"name": uid})

    def restart(self) -> None:
        """The kubelet restarts."""
        self._add("restartKubelet", {})

    def reboot(self) -> None:
        """The node reboots."""
        self._add("rebootNode", {"downtime": "1s"})

    def _add(self, key: str, action: Step) -> None:
        name = f"s{len(self.steps)}"
        self.steps.append({"name": name, "at": f"{self._at}s", key: action})
        self._at += _PERIOD

    def scenario(
        self, persistence: str, *, policy: str = "none", readmission: str = "upstream"
    ) -> ScenarioDocument:
        """Return what was told."""
        node: Step = {"name": "n0", "numaNodes": 2, "topologyManagerPolicy": policy}
        spec: Step = {
            "persistence": [persistence],
            "readmission": readmission,
            "nodes": [node],
            "plugins": list(self.plugins),
            "pods": self.pods,
            "steps": list(self.steps),
        }
        metadata: Step = {"name": "story"}
        return {"apiVersion": API_VERSION, "kind": "Scenario", "metadata": metadata, "spec": spec}


def _devices(devices: tuple[Device, ...]) -> Plain:
    listed: list[Plain] = []
    for device in devices:
        one: Step = {"id": device.id, "health": device.health}
        if device.topology is not None:
            one["numa"] = list(device.topology)
        listed.append(one)
    return {"each": listed}


def _manifest(name: str, pod: Pod) -> Plain:
    spec: Step = {"terminationGracePeriodSeconds": 1}
    if pod.init_containers:
        spec["initContainers"] = [_container(one) for one in pod.init_containers]
    # The API server wants at least one regular container; the core does not.
    spec["containers"] = [_container(one) for one in pod.containers] or [{"name": "nothing"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def _container(container: Container) -> Plain:
    limits: Step = {name: count for name, count in container.limits if count}
    written: Step = {"name": container.name, "resources": {"limits": limits}}
    if container.kind is ContainerKind.SIDECAR:
        written["restartPolicy"] = "Always"
    return written
