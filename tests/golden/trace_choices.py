"""The choices that the real code made by chance, forced after checking that they were allowed.

A recording lists, for every container and resource that Allocate looked at, the groups ("tiers")
from which devices could be taken. They are compared with those of the device manager here; only
then is the recorded pick taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from simulator.core.devices import DeviceId, NumaNode
from simulator.core.pods import ContainerName, PodUid
from simulator.core.resources import ResourceName
from tests.golden.trace_reading import Json
from tests.golden.trace_tiers import described

Look = Callable[[PodUid, Json], Json]
"""What the device manager knows where a choice was recorded, in the words of the recording."""

IsRegistered = Callable[[ResourceName], bool]
"""Whether a resource has a set of healthy devices, so that Allocate looks at it for certain."""

FindOrder = Callable[[PodUid, Json, Sequence[NumaNode]], Sequence[NumaNode]]
"""The order of nodes that leads to a recorded split, if any does."""


_RECORDS_EVERY_CHOICE: Final = ("admit", "allocate")


@dataclass
class _Recorded:
    """One recorded choice, as far as it was followed.

    Attributes:
        known: What the device manager knew before; None when it did not come so far.
    """

    json: Json
    taken: set[DeviceId] = field(default_factory=set)
    left: list[list[DeviceId]] = field(default_factory=list)
    known: Json | None = None

    def __post_init__(self) -> None:
        self.left = [list(tier) for tier in self.json["tiers"] or ()]

    def next_tier(self) -> list[DeviceId]:
        """Return the next tier that still has something to take."""
        while self.left:
            tier = [device for device in self.left.pop(0) if device not in self.taken]
            if tier:
                return tier
        return []


class ForcedChoices:
    """The choices of the step that began last.

    Attributes:
        differences: What differed.
        allocated: The containers that Allocate was called for.
        preferred: What the plugins preferred where they were asked.
        sent: What the plugins were told to allocate.
    """

    def __init__(self, look: Look, is_registered: IsRegistered, find_order: FindOrder) -> None:
        self._look = look
        self._is_registered = is_registered
        self._find_order = find_order
        self.begin({"op": "", "out": {}})

    def begin(self, step: Json) -> None:
        """Have a step's choices ready."""
        self.differences: list[str] = []
        self.allocated: list[tuple[PodUid, ContainerName]] = []
        self.preferred: dict[tuple[ContainerName, ResourceName], Sequence[DeviceId]] = {}
        self.sent: dict[tuple[ContainerName, ResourceName], Sequence[DeviceId]] = {}
        self._step = step
        self._recorded = {
            (each["container"], each["resource"]): _Recorded(each)
            for each in step.get("choices", ())
        }
        self._calls = list(step.get("plugin_calls", ()))
        self._running_checks = list(step.get("running_checks", ()))
        self._starts = step["op"] == "run_container_options"

    def order_resources(
        self, pod: PodUid, container: ContainerName, resources: Sequence[ResourceName]
    ) -> Sequence[ResourceName]:
        """Return the order that happened: by look-up, plugin call, then the one in the error."""
        if self._starts:
            self._starts = False
            called = self._take_calls("PreStartContainer", len(resources))
        else:
            self.allocated.append((pod, container))
            self._compare_before(pod, container, resources)
            allocated = [
                key
                for key, recorded in self._recorded.items()
                if key[0] == container and recorded.json["chosen"] is not None
            ]
            called = self._take_calls("Allocate", len(allocated))
        looked_up = [
            ResourceName(check["resource"])
            for check in self._running_checks
            if (check["pod"], check["container"]) == (pod, container)
        ]
        known = dict.fromkeys([*looked_up, *called, *self._blamed(resources)])
        ordered = [name for name in known if name in resources]
        return [*ordered, *(name for name in resources if name not in ordered)]

    def _compare_before(
        self, pod: PodUid, container: ContainerName, resources: Sequence[ResourceName]
    ) -> None:
        """Compare what is known before the container is allocated."""
        for recorded in self._recorded.values():
            if recorded.json["container"] == container:
                recorded.known = self._look(pod, recorded.json)
                self._compare(recorded, recorded.known)
        if self._step["op"] in _RECORDS_EVERY_CHOICE:
            for resource in filter(self._is_registered, resources):
                if (container, resource) not in self._recorded:
                    self.differences.append(f"choices: {container} {resource} is not recorded")

    def compare_after(self) -> None:
        """Compare what became of every choice."""
        for (container, resource), recorded in self._recorded.items():
            if recorded.known is None:
                self._differ(container, resource, "a choice", "none was to be made")
                continue
            key = (container, resource)
            found = described(recorded.known, self.preferred.get(key), self.sent.get(key))
            self._compare(recorded, found)
            checked = {"container", "resource", *recorded.known, *found}
            for name in recorded.json:
                if name not in checked:
                    self._differ(container, resource, name, "not checked")
        for check in self._running_checks:
            self.differences.append(f"running_checks: not made: {check}")

    def _compare(self, recorded: _Recorded, found: Json) -> None:
        container, resource = recorded.json["container"], recorded.json["resource"]
        for key, value in found.items():
            if recorded.json[key] != value:
                self._differ(container, resource, f"{key} {recorded.json[key]}", value)

    def _take_calls(self, rpc: str, count: int) -> Iterator[ResourceName]:
        """Yield the resources of the next calls of a kind."""
        taken = [call for call in self._calls if call["rpc"] == rpc][:count]
        for call in taken:
            self._calls.remove(call)
            yield ResourceName(call["resource"])

    def _blamed(self, resources: Sequence[ResourceName]) -> Iterator[ResourceName]:
        """Yield the resource on which the container failed, if the step says so."""
        out = self._step["out"]
        stopped = out.get("stopped_endpoint_resource")
        if stopped is not None:
            yield ResourceName(stopped)
        for call in self._calls:
            if call["rpc"] == "GetPreferredAllocation" and call.get("error"):
                yield ResourceName(call["resource"])
        text = out.get("message") or out.get("error") or ""
        named = [name for name in resources if name in text]
        yield from sorted(named, key=len, reverse=True)[:1]

    def take(
        self,
        tier: Sequence[DeviceId],
        count: int,
        *,
        pod: PodUid,
        container: ContainerName,
        resource: ResourceName,
    ) -> Sequence[DeviceId]:
        """Return the recorded pick out of a tier, if the recording has the same tier."""
        del pod
        if not tier:
            return ()
        recorded = self._recorded.get((container, resource))
        if recorded is None:
            self.differences.append(f"choices: {container} {resource} is not recorded")
            return tier[:count]
        chosen = recorded.json["chosen"]
        if chosen is None:
            return tier[:count]
        expected = recorded.next_tier()
        picked = [device for device in tier if device in chosen]
        recorded.taken.update(picked)
        if expected != list(tier):
            self._differ(container, resource, f"tier {expected}", list(tier))
        if len(picked) != count:
            self._differ(container, resource, f"choice {chosen}", f"{count} of {list(tier)}")
            return tier[:count]
        return picked

    def order_nodes(
        self,
        nodes: Sequence[NumaNode],
        *,
        pod: PodUid,
        container: ContainerName,
        resource: ResourceName,
    ) -> Sequence[NumaNode]:
        """Return an order in which the devices fall into the recorded groups."""
        recorded = self._recorded.get((container, resource))
        return nodes if recorded is None else self._find_order(pod, recorded.json, nodes)

    def pick_instance(
        self,
        pod: PodUid,
        container: ContainerName,
        resource: ResourceName,
        instances: Sequence[tuple[str, bool]],
    ) -> int:
        """Return the container id that the real code picked."""
        for check in self._running_checks:
            if (check["pod"], check["container"], check["resource"]) == (pod, container, resource):
                self._running_checks.remove(check)
                self._compare_check(check, dict(instances))
                ids = [each for each, _ in instances]
                return ids.index(check["picked_container_id"])
        self.differences.append(f"running_checks: {pod} {container} {resource} is not recorded")
        return 0

    def _compare_check(self, check: Json, instances: Mapping[str, bool]) -> None:
        """Compare a recorded look at the runtime's containers."""
        recorded = {each["container_id"]: each["running"] for each in check["container_ids"]}
        is_random = len(set(instances.values())) > 1
        running = instances.get(check["picked_container_id"])
        if recorded != instances or (check["running"], check["random_outcome"]) != (
            running,
            is_random,
        ):
            self.differences.append(f"running_checks: recorded {check}, here {instances}")

    def _differ(self, container: str, resource: str, recorded: str, here: object) -> None:
        self.differences.append(f"choices.{container}.{resource}: recorded {recorded}, here {here}")
