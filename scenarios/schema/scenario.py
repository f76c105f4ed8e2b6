"""The schema of `Scenario` files (conventions.md §1): the same for errors and `rebind explain`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from scenarios.schema.devices import DeviceList
from scenarios.schema.expect import Expectation, ReadmissionName
from scenarios.schema.fields import (
    ApiVersion,
    DeviceIdText,
    GoDuration,
    Items,
    KubeletVersion,
    Manifest,
    Model,
    Name,
    Resource,
    one_or_list,
)
from scenarios.schema.steps import Step
from scenarios.schema.variants import Persistence, PersistenceVariant
from simulator.config import DEFAULT_KUBELET_VERSION
from simulator.core.instants import Duration
from simulator.engine.spec import PluginLatency

NODES_MAX = 64
"""Most nodes of one scenario."""
SEED_MAX = 2**63 - 1
"""Largest seed."""


class Metadata(Model):
    """Name, labels and provenance."""

    name: Name
    """The scenario's name."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels; `timing: independent` marks scenarios that the live conformance test runs."""
    annotations: dict[str, str] = Field(default_factory=dict)
    """Annotations; `rebind.internal/source` is where the case comes from, `rebind.internal/reports`
    names the field reports that it covers, such as `R01 R03`."""


class FileReference(Model):
    """A file, relative to the scenario's folder."""

    path: str
    """The file's name."""


class KnownPod(Model):
    """A pod that is bound to the node at the start and whose uid the checkpoint names."""

    uid: str
    """Its uid, as in the checkpoint."""
    name: Name
    """The name by which this scenario calls it."""
    manifest: Manifest | None = None
    """Its manifest; left out: the containers and limits that the checkpoint's entries imply.

    A status in it says how the pod stands at the start; left out: it runs.
    """
    gone: bool = False
    """Whether the pod is deleted already, and only the checkpoint still names it."""


class Node(Model):
    """A simulated node."""

    name: Name
    """The node's name."""
    numa_nodes: Annotated[int, Field(ge=0, le=64)] = 0
    """Number of NUMA nodes of the machine; 0: none reported."""
    topology_manager_policy: Literal["none", "best-effort", "restricted", "single-numa-node"] = (
        "none"
    )
    """The topology manager's policy (S7)."""
    topology_manager_scope: Literal["container", "pod"] = "container"
    """The topology manager's scope (S7)."""
    checkpoint: FileReference | None = None
    """Checkpoint file with which the node starts; left out: none."""
    pods: Items[KnownPod] = ()
    """Names for the pods of that file."""


class Latency(Model):
    """How long a plugin takes to answer, in virtual time."""

    allocate: GoDuration = PluginLatency().allocate
    """Allocate."""
    preferred_allocation: GoDuration = PluginLatency().preferred_allocation
    """GetPreferredAllocation."""
    pre_start: GoDuration = PluginLatency().pre_start
    """PreStartContainer."""


class Plugin(Model):
    """A device plugin of one node."""

    name: Name
    """The plugin's name in this scenario."""
    node: Name | None = None
    """Its node; may be left out when the scenario has only one."""
    resource_name: Resource
    """The extended resource it serves."""
    devices: DeviceList
    """The devices it reports."""
    devices_after_reboot: DeviceList | None = None
    """The devices it reports after a reboot; left out: the same."""
    pre_start_required: bool = False
    """Whether it wants PreStartContainer calls (S1.26)."""
    preferred_allocation: bool = False
    """Whether it answers GetPreferredAllocation (S1.25)."""
    preferred_devices: Items[DeviceIdText] | None = None
    """Ids with which every GetPreferredAllocation is answered, whatever is asked: too few, unknown
    or taken ones as well (S3.18); left out: the first ones that are offered."""
    reregister_after: GoDuration | None = Duration(1_000_000_000)
    """From a kubelet's start to the plugin's Register call; null: it does not come back."""
    starts_after_boot: GoDuration | None = None
    """From a boot to the plugin's Register call; left out: a step starts it."""
    latency: Latency = Latency()
    """How long its answers take."""
    fail_allocate: str = ""
    """Error text with which every Allocate fails."""
    empty_allocate: bool = False
    """Whether Allocate answers without container responses (S3.13)."""
    fail_preferred: str = ""
    """Error text with which every GetPreferredAllocation fails."""
    fail_pre_start: str = ""
    """Error text with which every PreStartContainer fails."""
    fail_dial: bool = False
    """Whether it registers a socket that it does not serve."""
    fail_options: str = ""
    """Error text with which every GetDevicePluginOptions fails."""
    fail_list_and_watch: bool = False
    """Whether every ListAndWatch ends before its first message."""


class Pod(Model):
    """A pod that steps may create, or several, from a plain Kubernetes manifest."""

    manifest: Manifest
    """A Pod, List, Deployment or Job, or path: FILE relative to the scenario.

    Replacements of a pod NAME are called NAME-1, NAME-2 and so on.
    """
    controller: Literal["none", "replicaSet", "job"] | None = None
    """Who replaces the pod when it ends; left out: what the manifest is."""
    node: Name | None = None
    """The node to which it is bound when it is created without a node."""
    static: bool = False
    """Whether it stands in a file on its node, which the kubelet reads without the API server."""
    replace_after: GoDuration = Duration(1_000_000_000)
    """From the end of a pod to its replacement by a replicaSet; a job's delay grows by itself."""


class Spec(Model):
    """What is simulated and what is expected."""

    description: str = ""
    """One or a few sentences for people."""
    kubelet_versions: Annotated[Items[KubeletVersion], Field(min_length=1)] = (
        DEFAULT_KUBELET_VERSION,
    )
    """Kubelet versions to run."""
    persistence: Annotated[Items[PersistenceVariant], Field(min_length=1)] = (
        Persistence("database"),
    )
    """Persistences to run, or maps to their options such as checkpoint: {dirFsync: true}.
    checkpoint: the node's file; database: SQL in its place; dual-write: both, as in a migration;
    checkpoint+api: the file, and every flushPeriod a copy in the pods' specs; bind-resource: the
    specs alone, bound before a pod starts; pod-status: the file, and ids in the pods' statuses;
    binding-object: a DeviceBinding per pod, before it starts unless synchronous is false."""
    readmission: Annotated[
        Items[ReadmissionName], BeforeValidator(one_or_list), Field(min_length=1)
    ] = ("upstream",)
    """Readmission policies to run: one or a list."""
    reservations: Literal["upstream", "transactional"] | None = None
    """What a failed allocation leaves behind; left out: the persistence's own way."""
    durability: Literal["full", "normal", "off"] = "full"
    """What a power cut may take from a database."""
    added_fsync: GoDuration = Duration(0)
    """Extra time that every fsync takes."""
    status_coalesce: bool = True
    """Whether several changes of one pod's status that wait are one patch, as in a kubelet (S12.3),
    or each is a GET and a PATCH of its own, as in simple models."""
    plugin_call_timeout: GoDuration | None = None
    """How long a kubelet waits for Allocate and GetPreferredAllocation, which is no kubelet's way;
    left out: as long as they take (S1.24, S1.25)."""
    choice: Literal["sorted", "random"] = "sorted"
    """How devices are picked where the kubelet's order is random."""
    seed: Annotated[int, Field(ge=0, le=SEED_MAX)] = 0
    """Start of every random stream of the run."""
    nodes: Annotated[Items[Node], Field(min_length=1, max_length=NODES_MAX)]
    """The nodes."""
    plugins: Items[Plugin] = ()
    """The device plugins."""
    pods: Items[Pod] = ()
    """The pods that steps may create."""
    steps: Annotated[Items[Step], Field(min_length=1, max_length=10_000)]
    """What happens, one action each."""
    expect: Items[Expectation] = ()
    """What must be seen."""


class Scenario(Model):
    """A scenario: nodes, plugins and pods, what happens to them, and what must be seen."""

    api_version: ApiVersion
    """`rebind.internal/v1alpha1`."""
    kind: Literal["Scenario"]
    """`Scenario`."""
    metadata: Metadata
    """Name, labels and provenance."""
    spec: Spec
    """What is simulated and what is expected."""
