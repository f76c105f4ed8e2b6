"""Rows for pods that no one has seen, one device each: most of what a busy store is told.

`plan_admission` says what an admission of any kind means. Here the commonest kind is planned for a
whole group in one loop: what the group shares is looked up once, nothing is made for a pod but its
rows, and no function is called. What is not of that kind ends the loop and goes the general way.

Measured with batches of 512 on 512 nodes, where SQLite and the other nodes have filled the
processor's caches when an admission comes to its own node: every place of memory that is the node's
own costs 0.05 to 0.1 us there. So what nodes share, and the pods of all of them, stand in one table
each, and of a node's own the entry and one resource are looked at: 1.3 to 1.8 us an admission in
place of 2.8 to 3.5, of which 0.8 are there when all is in the caches. Looking up the nodes of a
group beforehand gained nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from simulator.core.transitions import PodAdmitted, Transition
from simulator.ports import Committed, Outcome
from store.planning.plan import Plan


def plan_arrivals(plan: Plan, transitions: Iterable[Transition], outcomes: list[Outcome]) -> None:
    """Bind devices to pods that are new, up to the first transition that is anything else.

    Args:
        plan: Where the rows go.
        transitions: What is to be planned.
        outcomes: Gets one outcome for each that was planned.
    """
    keys, nodes, pods, part = plan.keys, plan.nodes, plan.pods, plan.part
    newcomers, revisions, segment_end = plan.writes.newcomers, plan.revisions, keys.segment_end
    before = revision = keys.revision
    pod, holding = keys.pod, keys.holding
    last = revision + plan.room()
    for admitted in transitions:
        if type(admitted) is not PodAdmitted:
            break
        node, at, identity = nodes.get(admitted.node), admitted.at, admitted.pod
        if node is None or node.alone == part or at >= segment_end or revision >= last:
            break
        node_id, uid, bindings = node.id, identity.uid, admitted.bindings
        known = (node_id, uid)
        if len(bindings) != 1 or known in pods:
            break
        binding = bindings[0]
        name, devices, resource = binding.resource, binding.devices, node.latest
        if resource is None or resource.name != name:
            resource = node.latest = node.resources.get(name)
        if resource is None or len(devices) != 1:
            break
        [numa_node] = devices
        ids, response = devices[numa_node], binding.response
        place = resource.places.get(ids[0]) if len(ids) == 1 else None
        if place is None or response is None:
            break
        revision += 1
        pod += 1
        holding += 1
        container = binding.container
        node.touched = part
        node.revision = revisions[node_id] = revision
        pods[known] = (pod, holding, holding)
        newcomers.append(
            (
                pod,
                node_id,
                uid,
                identity.namespace,
                identity.name,
                revision,
                at,
                container,
                holding,
                resource.first + place,
                node.boot,
                numa_node,
                resource.id,
                response,
                f"{container} {name}={ids[0]}",
            )
        )
    outcomes.extend(Committed.each(range(before + 1, revision + 1)))
    keys.change += revision - before
    keys.revision, keys.pod, keys.holding = revision, pod, holding
