"""A server that serves for long: what has gone is forgotten, what is there is not."""

from __future__ import annotations

import json

from simulator.core.instants import SECOND, Duration, after
from simulator.engine.virtual.simulation import Simulation
from simulator.engine.world import Watching
from simulator.server.manifests import read_objects
from simulator.server.pods import Pods
from tests.engine.runs import a_spec, no_store
from tests.engine.test_long_runs import KEPT, objects_of


def manifest(name: str) -> bytes:
    spec = {"nodeName": "n0", "terminationGracePeriodSeconds": 0, "containers": [{"name": "main"}]}
    metadata = {"name": name, "labels": {"app": name}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    return json.dumps(pod).encode()


class Service:
    """Pods that are applied and deleted in virtual time."""

    def __init__(self) -> None:
        watching = Watching(records_max=KEPT, deleted_pods_max=KEPT)
        self.simulation = Simulation(a_spec(), store_factory=no_store, watching=watching)
        self.pods = Pods(self.simulation, gone_max=KEPT)
        self._made = 0

    def apply(self, name: str) -> None:
        self.pods.apply(read_objects(manifest(name), "pod.json"))
        self._wait()

    def delete(self, name: str) -> None:
        """Delete a pod, and tell that everyone was told."""
        pod = self.pods.found("default", name)
        self.pods.delete(pod, force=False)
        self._wait()
        self.pods.forget(pod)

    def cycle(self, times: int) -> None:
        for _ in range(times):
            self._made += 1
            self.apply(f"pod-{self._made}")
            self.delete(f"pod-{self._made}")

    def _wait(self) -> None:
        self.simulation.run_until(after(self.simulation.now, Duration(3 * SECOND)))


def test_pods_that_have_gone_are_forgotten_but_for_their_names() -> None:
    """Only the identity of a pod is kept: two objects and a key."""
    service = Service()
    service.cycle(50)
    before = objects_of(service.pods)
    service.cycle(50)

    assert objects_of(service.pods) < before + 50 * 7


def test_what_a_pod_was_made_of_is_known_while_it_is_there() -> None:
    service = Service()
    service.apply("lasting")
    service.cycle(30)

    assert service.pods.labels_of(service.pods.found("default", "lasting")) == {"app": "lasting"}


def test_a_pod_is_found_by_its_name_until_it_has_gone() -> None:
    service = Service()
    service.apply("a")
    first = service.pods.find("default", "a")
    service.delete("a")
    gone = service.pods.find("default", "a")
    service.apply("a")
    second = service.pods.find("default", "a")

    assert first is not None
    assert gone is None
    assert second is not None
    assert second is not first
