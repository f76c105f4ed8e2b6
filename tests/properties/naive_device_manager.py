"""A device manager as the kubelet has it: plain maps of sets, copied and rebuilt without a thought.

Written from S2.1 to S2.12, S3.1 to S3.17, S4.12 and S6.1, for topology policy `none`; where Go's
map order chooses, the lowest id or name is taken. It is the measure for the fast one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from simulator.core.pods import Container, ContainerKind, Pod

GRACE_SECONDS = 300
Sets = dict[str, set[str]]
Answer = Callable[[str], str]
"""An error text by resource; `empty` for an answer without container responses."""


class RefusedError(Exception):
    """Why a container is not served, in the kubelet's words."""


class NotCommittedError(RefusedError):
    """The database did not take a pod; what is not durable is not kept."""


@dataclass
class Outside:
    """What the kubelet meets during one step.

    Attributes:
        allocate, prefer: How each plugin answers; empty for success.
        write_error: With which the state cannot be written; empty for success.
    """

    allocate: Mapping[str, str] = field(default_factory=dict)
    prefer: Mapping[str, str] = field(default_factory=dict)
    write_error: str = ""


@dataclass
class NaiveDeviceManager:
    """The maps of ManagerImpl.

    Attributes:
        leaks: Whether failed calls leave behind what they leave behind in the kubelet.
        commits_pods: Whether a pod is made durable as a whole and not container by container.
    """

    leaks: bool
    commits_pods: bool
    now: int = 0
    sources_ready: bool = True
    active: dict[str, Pod] = field(default_factory=dict)
    running: set[tuple[str, str]] = field(default_factory=set)
    healthy: Sets = field(default_factory=dict)
    unhealthy: Sets = field(default_factory=dict)
    allocated: Sets = field(default_factory=dict)
    stopped: dict[str, int | None] = field(default_factory=dict)
    asks: dict[str, bool | None] = field(default_factory=dict)
    pods: dict[str, dict[str, Sets]] = field(default_factory=dict)
    reuse: dict[str, Sets] = field(default_factory=dict)
    committed: set[tuple[str, str, str]] = field(default_factory=set)

    # Plugins

    def register(self, resource: str, *, asks: bool) -> None:
        self.stopped[resource] = None
        self.asks[resource] = asks

    def report(self, resource: str, healthy: set[str], unhealthy: set[str]) -> None:
        self.healthy[resource] = set(healthy)
        self.unhealthy[resource] = set(unhealthy)

    def disconnect(self, resource: str) -> None:
        if resource in self.stopped:
            self.unhealthy.setdefault(resource, set()).update(self.healthy.get(resource, set()))
            if resource in self.healthy:
                self.healthy[resource] = set()
            self.stopped[resource] = self.now

    def expire(self) -> set[str]:
        gone = {
            resource
            for resource in {*self.healthy, *self.unhealthy}
            if resource not in self.stopped or self._is_expired(resource)
        }
        for resource in gone:
            for known in (self.healthy, self.unhealthy, self.stopped, self.asks):
                known.pop(resource, None)
        return gone

    def _is_expired(self, resource: str) -> bool:
        since = self.stopped[resource]
        return since is not None and self.now - since > GRACE_SECONDS

    # Kubelet

    def restart(self, running: set[tuple[str, str]], registered: set[str]) -> None:
        """Start again from what was kept: the records of pods and the registered resources."""
        self.running = running
        self.healthy = {resource: set() for resource in registered}
        self.unhealthy = {resource: set() for resource in registered}
        self.stopped = dict.fromkeys(registered, self.now)
        self.asks = dict.fromkeys(registered, None)
        self.reuse = {}
        self.allocated = self.rebuilt()
        self.committed = self._recorded()

    def _recorded(self) -> set[tuple[str, str, str]]:
        return {
            (uid, container, resource)
            for uid, containers in self.pods.items()
            for container, resources in containers.items()
            for resource in resources
        }

    def rebuilt(self) -> Sets:
        """Return what is allocated according to the records of pods."""
        found: Sets = {}
        for containers in self.pods.values():
            for resources in containers.values():
                for resource, devices in resources.items():
                    found.setdefault(resource, set()).update(devices)
        return found

    def release(self) -> None:
        if self.sources_ready and self.pods.keys() - self.active.keys():
            self.pods = {uid: held for uid, held in self.pods.items() if uid in self.active}
            self.allocated = self.rebuilt()
            self.committed &= self._recorded()

    def admit(self, pod: Pod, outside: Outside) -> str:
        """Return why the pod is refused; empty when it is admitted."""
        before = {
            (container, resource)
            for container, resources in self.pods.get(pod.uid, {}).items()
            for resource in resources
        }
        try:
            for container in pod.all_containers():
                self.allocate(pod, container, outside)
            if self.commits_pods:
                self._commit(pod, outside)
        except RefusedError as refused:
            if not self.leaks or isinstance(refused, NotCommittedError):
                self._take_back(pod, before)
            return str(refused)
        return ""

    def _commit(self, pod: Pod, outside: Outside) -> None:
        """Commit what the pod has and the database has not, be it from an earlier attempt."""
        wanted = {each for each in self._recorded() if each[0] == pod.uid}
        if wanted <= self.committed:
            return
        if outside.write_error:
            raise NotCommittedError(outside.write_error)
        self.committed |= wanted

    def _added(self, pod: Pod, before: set[tuple[str, str]]) -> list[tuple[str, str]]:
        return [
            (container, resource)
            for container, resources in self.pods.get(pod.uid, {}).items()
            for resource in resources
            if (container, resource) not in before
        ]

    def _take_back(self, pod: Pod, before: set[tuple[str, str]]) -> None:
        added = self._added(pod, before)
        recorded = self.rebuilt()
        leaked = {
            resource: devices - recorded.get(resource, set())
            for resource, devices in self.allocated.items()
        }
        for container, resource in added:
            del self.pods[pod.uid][container][resource]
        self.pods = {
            uid: {name: resources for name, resources in containers.items() if resources}
            for uid, containers in self.pods.items()
        }
        self.pods = {uid: containers for uid, containers in self.pods.items() if containers}
        self.allocated = self.rebuilt()
        if self.leaks:
            for resource, devices in leaked.items():
                if devices or resource not in {name for _, name in added}:
                    self.allocated.setdefault(resource, set()).update(devices)
        if added:
            self.reuse = {}

    def allocate(self, pod: Pod, container: Container, outside: Outside) -> None:
        self.reuse = {pod.uid: self.reuse.get(pod.uid, {})}
        reuse = self.reuse[pod.uid]
        self._allocate_resources(pod, container, reuse, outside)
        for resource, devices in self.pods.get(pod.uid, {}).get(container.name, {}).items():
            known = reuse.get(resource, set())
            reuse[resource] = (
                known | devices if container.kind is ContainerKind.INIT else known - devices
            )

    def _allocate_resources(
        self, pod: Pod, container: Container, reuse: Sets, outside: Outside
    ) -> None:
        updated = needs_write = False
        for resource, required in sorted(container.limits):
            if resource not in self.healthy and resource not in self.allocated:
                continue
            if not updated:
                self.release()
                updated = True
            reusable = reuse.get(resource, set())
            owner = (pod.uid, container.name)
            chosen = self._devices_to_allocate(owner, resource, required, reusable, outside)
            if not chosen:
                continue
            needs_write = True
            self._call(resource, outside.allocate.get(resource, ""))
            held = self.pods.setdefault(pod.uid, {}).setdefault(container.name, {})
            held[resource] = chosen
            if not self.leaks:
                self.allocated = self.rebuilt()
        if needs_write and not self.commits_pods:
            _write(outside)

    def _call(self, resource: str, error: str) -> None:
        if resource not in self.stopped:
            self.allocated = self.rebuilt()
            message = f"unknown Device Plugin {resource}"
            raise RefusedError(message)
        if self.stopped[resource] is not None:
            self.allocated = self.rebuilt()
            message = f"endpoint &{{{resource}}} has been stopped"
            raise RefusedError(message)
        if error == "empty":
            message = "no containers return in allocation response "
            raise RefusedError(message)
        if error:
            self.allocated = self.rebuilt()
            raise RefusedError(error)

    def _devices_to_allocate(
        self,
        owner: tuple[str, str],
        resource: str,
        required: int,
        reusable: set[str],
        outside: Outside,
    ) -> set[str]:
        uid, name = owner
        recorded = self.pods.get(uid, {}).get(name, {}).get(resource)
        needed = required - len(recorded or ())
        if recorded is not None and needed:
            message = (
                f'pod "{uid}" container "{name}" changed request for resource "{resource}" '
                f"from {len(recorded)} to {required}"
            )
            raise RefusedError(message)
        if not self.sources_ready and (uid, name) in self.running:
            return set()
        self._require_healthy(resource, recorded)
        if not needed:
            return set()
        chosen: set[str] = set()
        self._take(resource, chosen, reusable, required)
        if len(chosen) == required:
            return chosen
        available = self.healthy[resource] - self.allocated[resource]
        if len(available) < required - len(chosen):
            message = (
                f"requested number of devices unavailable for {resource}. "
                f"Requested: {required - len(chosen)}, Available: {len(available)}"
            )
            raise RefusedError(message)
        preferred = self._preferred(resource, available | chosen, outside)
        self._take(resource, chosen, preferred & available, required)
        self._take(resource, chosen, available, required)
        return chosen

    def _require_healthy(self, resource: str, recorded: set[str] | None) -> None:
        if resource not in self.healthy:
            message = f"cannot allocate unregistered device {resource}"
            raise RefusedError(message)
        message = f"cannot allocate unhealthy devices {resource}"
        if not self.healthy[resource]:
            text = f"no healthy devices present; {message}"
            raise RefusedError(text)
        if recorded is not None and not recorded <= self.healthy[resource]:
            text = f"previously allocated devices are no longer healthy; {message}"
            raise RefusedError(text)

    def _take(self, resource: str, chosen: set[str], tier: set[str], required: int) -> None:
        in_use = self.allocated.setdefault(resource, set())
        for device in sorted(tier - chosen)[: required - len(chosen)]:
            in_use.add(device)
            chosen.add(device)

    def _preferred(self, resource: str, candidates: set[str], outside: Outside) -> set[str]:
        if resource not in self.stopped:
            message = f"endpoint not found in cache for a registered resource: {resource}"
            raise RefusedError(message)
        if not self.asks[resource]:
            return set()
        failed = "device plugin GetPreferredAllocation rpc failed with err: "
        if self.stopped[resource] is not None:
            message = f"{failed}endpoint &{{{resource}}} has been stopped"
            raise RefusedError(message)
        if resource in outside.prefer:
            message = f"{failed}{outside.prefer[resource]}"
            raise RefusedError(message)
        return set(sorted(candidates)[-2:])


def _write(outside: Outside) -> None:
    if outside.write_error:
        raise RefusedError(outside.write_error)
