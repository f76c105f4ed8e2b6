"""Two kubelets of one node name, as when an old machine comes back (W9), in random stories.

Both see the same pods and write to the same API server, each of its own devices. Devices in a spec
are bound once and for all; a DeviceBinding is its node's own, and says what one of the two said
last. Whatever either of them does, nothing of a third is touched.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from simulator.core.behavior import Behavior
from simulator.core.devices import device_ids
from simulator.core.instants import Duration
from simulator.core.persistence.bind_resource import BindResourcePersistence
from simulator.core.persistence.binding_object import BindingObjectPersistence
from simulator.core.persistence.checkpoint_api import CheckpointApiPersistence
from simulator.core.persistence.protocol import Persistence
from simulator.core.pods import Pod, PodUid
from simulator.core.transitions import NodeName
from tests.core.driving import GPU, MAIN, Rig, pod
from tests.core.persistence.api_server import Server, flush, restart
from tests.core.persistence.binding_objects import object_of

Ids = frozenset[str]


@dataclass(frozen=True)
class Step:
    """What one of the kubelets does.

    Attributes:
        who: Which kubelet.
        what: `start` a pod, `end` it, `restart` the kubelet, `flush`, or `lose` the next reply.
        pod: Which pod.
    """

    who: int
    what: str
    pod: int


STEPS = st.lists(
    st.builds(
        Step,
        st.integers(min_value=0, max_value=1),
        st.sampled_from(["start", "start", "start", "end", "restart", "flush", "lose"]),
        st.integers(min_value=0, max_value=2),
    ),
    max_size=14,
)


class Machines:
    """Two machines and one API server.

    Attributes:
        given: What a pod was started with, on each machine where it runs.
        ever_given: What a pod was given anywhere, by its UID.
        first_bound: What stood in a pod's spec when it was looked at first.
    """

    def __init__(self, strategy: type[Persistence] | None) -> None:
        self.server = Server()
        self.pods = [self.server.create(pod(f"p{number}", {GPU: 1})) for number in range(3)]
        self.given: dict[tuple[int, str], Ids] = {}
        self.ever_given: defaultdict[str, set[Ids]] = defaultdict(set)
        self.first_bound: dict[str, Ids] = {}
        self.rigs = [
            Rig(
                persistence=(lambda _: strategy()) if strategy else _follows,
                on_api=self.server.answer,
            )
            for _ in range(2)
        ]
        for number in range(2):
            self._plug(number)

    def _plug(self, number: int) -> None:
        """Let each machine prefer other devices: it has other pods than the other one."""
        names = ("g0", "g1", "g2") if number == 0 else ("g1", "g2", "g3")
        self.rigs[number].plug(GPU, *names)

    def do(self, step: Step) -> None:
        rig, target = self.rigs[step.who], self.pods[step.pod]
        if step.what == "start":
            self._start(step.who, target)
        elif step.what == "end":
            if target.uid in rig.facts.active_pods:
                rig.end(target.uid)
            self.given.pop((step.who, target.uid), None)
            rig.run(rig.manager.release_inactive())
        elif step.what == "restart":
            self._restart(step.who)
        elif step.what == "flush":
            flush(rig)
        else:
            self.server.loses = 1

    def _start(self, who: int, target: Pod) -> None:
        rig, seen = self.rigs[who], self.server.seen(target)
        if (who, target.uid) in self.given or not rig.admit(seen).admitted:
            return
        self.ever_given[target.uid].add(self.held(who, target))
        if rig.run(rig.manager.api.before_start(seen)).admitted:
            self.given[who, target.uid] = self.held(who, target)

    def _restart(self, who: int) -> None:
        rig = self.rigs[who]
        running = [each for each in self.pods if (who, each.uid) in self.given]
        while restart(rig, self.server, *running):
            pass
        self._plug(who)
        for each in running:
            assert rig.admit(self.server.seen(each)).admitted
        rig.facts.sources_ready = True

    def held(self, who: int, target: Pod) -> Ids:
        devices = self.rigs[who].manager.devices_of(target.uid, MAIN)
        return frozenset(map(str, devices.get(GPU, ())))

    def in_spec(self, target: Pod) -> Ids | None:
        named = self.server.named(target)
        return None if named is None else frozenset(map(str, named))

    def check_specs(self) -> None:
        """Devices in a spec are never exchanged."""
        for each in self.pods:
            named = self.in_spec(each)
            if named is not None:
                assert self.first_bound.setdefault(each.uid, named) == named


def _follows(behavior: Behavior) -> Persistence:
    return CheckpointApiPersistence(behavior, flush_period=Duration(0))


@given(steps=STEPS)
def test_what_runs_anywhere_has_what_the_spec_says(steps: list[Step]) -> None:
    """P3: the second one to bind other devices is refused, and starts nothing."""
    machines = Machines(BindResourcePersistence)
    for step in steps:
        machines.do(step)
        machines.check_specs()
        for (_, uid), ids in machines.given.items():
            [target] = [each for each in machines.pods if each.uid == uid]
            assert machines.in_spec(target) == ids


@given(steps=STEPS)
def test_a_copy_that_differs_changes_no_machine(steps: list[Step]) -> None:
    """P2, W11: what a file says counts on its machine, whoever's devices the spec has."""
    machines = Machines(None)
    for step in steps:
        machines.do(step)
        machines.check_specs()
        for (who, uid), ids in machines.given.items():
            [target] = [each for each in machines.pods if each.uid == uid]
            assert machines.held(who, target) == ids


@given(steps=STEPS)
def test_an_object_says_what_one_of_the_machines_gave(steps: list[Step]) -> None:
    """P5, I4: no observer reads an id that was never true; what another node has stays as it is."""
    machines = Machines(BindingObjectPersistence)
    object_of(machines.server, "another", "p9", "g9", node=NodeName("n9"))
    for step in steps:
        machines.do(step)
        said = {
            each.pod.uid: frozenset(map(str, device_ids(each.bindings[0].devices)))
            for each in machines.server.devices.objects()
        }
        assert said[PodUid("p9")] == {"g9"}
        for uid, ids in said.items():
            assert uid == "p9" or ids in machines.ever_given[uid]
