"""Nodes, their plugins and the templates of pods as churn profiles write them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from benchmarks.profiles.schema.loads import Lifetime
from benchmarks.profiles.schema.numbers import Latency
from scenarios.schema.devices import DEVICES_MAX, NUMA_NODES_MAX
from scenarios.schema.fields import GoDuration, Items, Manifest, Model, Name, Resource, Wording
from simulator.core.instants import MILLISECOND, SECOND, Duration
from simulator.engine.spec import PluginLatency

NODES_MAX = 10_000
"""Most nodes of a profile."""
EXISTING_MAX = 100_000
"""Most pods that a node has at the start."""

_LATENCY = PluginLatency()


class Nodes(Model):
    """The nodes, all alike.

    A node admits one pod after the other, so only pods of different nodes share a commit.
    """

    count: Annotated[int, Field(ge=1, le=NODES_MAX)] = 1
    """How many."""
    numa_nodes: Annotated[int, Field(ge=0, le=NUMA_NODES_MAX)] = 0
    """Number of NUMA nodes of each machine; 0: none reported."""
    existing: Annotated[int, Field(ge=0, le=EXISTING_MAX)] = 0
    """Pods that are bound to each node at the start, and stay."""
    existing_pods: Name | None = None
    """Template of those pods; left out: the first one."""


class Devices(Model):
    """The devices of a plugin on each node."""

    count: Annotated[int, Field(ge=1, le=DEVICES_MAX)]
    """How many, beside those that the existing pods of the node hold."""
    spread: bool = False
    """Whether they are dealt out over the node's NUMA nodes, one after the other."""


class PluginLatencies(Model):
    """How long a plugin takes to answer, in virtual time and over its socket."""

    allocate: Latency = Latency.always(_LATENCY.allocate)
    """Allocate."""
    preferred_allocation: Latency = Latency.always(_LATENCY.preferred_allocation)
    """GetPreferredAllocation."""
    pre_start: Latency = Latency.always(_LATENCY.pre_start)
    """PreStartContainer."""


class Plugin(Model):
    """A device plugin that every node has."""

    name: Name
    """Its name, the start of its devices' ids."""
    resource_name: Resource
    """The extended resource it serves."""
    devices: Devices
    """The devices it reports."""
    latency: PluginLatencies = PluginLatencies()
    """How long its answers take."""
    preferred_allocation: bool = False
    """Whether it answers GetPreferredAllocation (S1.25)."""
    pre_start_required: bool = False
    """Whether it wants PreStartContainer calls (S1.26)."""
    reregister_after: GoDuration = Duration(SECOND)
    """From a kubelet's start to the plugin's Register call."""
    starts_after_boot: GoDuration = Duration(100 * MILLISECOND)
    """From a boot to the plugin's Register call. A kubelet admits its pods again 200 ms after its
    start; those whose devices are not there by then are refused (S5.2)."""


class PodTemplate(Model):
    """What pods are made of: the limits of one container, or containers as in a manifest."""

    limits: Annotated[Manifest | None, Wording("map of resource name to quantity")] = None
    """Limits of the only container, `main`; instead of `containers`."""
    containers: Items[Manifest] = ()
    """Containers as in `spec.containers` of a v1 Pod."""
    init_containers: Items[Manifest] = ()
    """Init containers as in `spec.initContainers` of a v1 Pod."""
    lifetime: Lifetime | None = None
    """How long its containers run; left out: until the run ends."""
    finishes: bool = False
    """Whether the pod ends by itself then, as a job does; else it is deleted then."""
    termination_grace_period: GoDuration = Duration(0)
    """From the deletion of the pod to the end of its containers."""
