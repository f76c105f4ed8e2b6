"""The schema of `ChurnProfile` files (conventions §1): the same for errors and `rebind explain`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from benchmarks.profiles.combinations import COMBINATIONS_MAX
from benchmarks.profiles.profile import LatencyStart
from benchmarks.profiles.schema.loads import Load
from benchmarks.profiles.schema.matrix import Knobs
from benchmarks.profiles.schema.nodes import Nodes, Plugin, PodTemplate
from benchmarks.profiles.schema.numbers import Latency, Percentile, Rate
from benchmarks.profiles.schema.phases import MeasureName, Phase
from scenarios.schema.fields import ApiVersion, GoDuration, Items, Model, Name, one_or_list
from scenarios.schema.scenario import SEED_MAX
from simulator.engine.latencies import API_REQUEST, CONTAINER_START

REPETITIONS_MAX = 100
"""Most repetitions."""
WATCHERS_MAX = 10_000
"""Most watchers."""
CHOSEN_MAX = 10_000
"""Most combinations of a profile."""


class ProfileMetadata(Model):
    """Name, labels and provenance."""

    name: Name
    """The profile's name."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels."""
    annotations: dict[str, str] = Field(default_factory=dict)
    """Annotations; `rebind.internal/source` is where the load comes from."""


class ReadRate(Model):
    """Reads in an open loop."""

    qps: Rate
    """Per second."""


class Reads(Model):
    """What is read beside the load."""

    pod_resources_list: ReadRate | None = None
    """PodResources List calls on each node (S8)."""
    get: ReadRate | None = None
    """Reads of the devices of one pod, over all nodes."""
    watchers: Annotated[int, Field(ge=0, le=WATCHERS_MAX)] = 0
    """Watchers that follow all pods."""


class ApiServer(Model):
    """The API server as it is modelled where there is none: in virtual time."""

    latency: Latency = Latency.always(API_REQUEST)
    """How long a request takes."""


class ContainerRuntime(Model):
    """The container runtime of every node as it is modelled in virtual time."""

    container_start: GoDuration = CONTAINER_START
    """From the end of a container's admission to its running process, one container after the other
    of a pod."""


class Retention(Model):
    """What is dropped from the history while the profile runs."""

    changes: Annotated[int, Field(ge=1)]
    """So many of the newest changes are kept."""


class Measuring(Model):
    """What the results show."""

    from_: Annotated[Literal["scheduledStart", "sent"], Field(alias="from")] = (
        LatencyStart.SCHEDULED_START.value
    )
    """Where latencies begin: at the scheduled start, so that a stall is paid for by every pod that
    it delays, or, for comparison only, when a pod was really offered."""
    percentiles: Annotated[Items[Percentile], Field(min_length=1)] = (50.0, 90.0, 99.0, 99.9)
    """Percentiles; the longest latency is always shown."""
    latencies: Annotated[Items[MeasureName], BeforeValidator(one_or_list), Field(min_length=1)] = (
        "admission",
    )
    """Until when: admission (bindings are durable), start (the first container may start), running
    (the API shows it running), visible (a reader sees the device ids)."""


def _form(value: object) -> str:
    return "list" if isinstance(value, list) else "number"


class Spec(Model):
    """What comes, to which nodes, and what is varied and measured."""

    description: str = ""
    """One or a few sentences for people; the first one is what `rebind bench list` shows."""
    takes: GoDuration | None = None
    """How long a run takes about, where that was measured; left out: what the phases imply."""
    seed: Annotated[int, Field(ge=0, le=SEED_MAX)] = 0
    """Start of every random stream: the same seed makes the same pods at the same instants."""
    repetitions: Annotated[int, Field(ge=1, le=REPETITIONS_MAX)] = 1
    """How often every combination runs; the repetitions of different ones are interleaved."""
    nodes: Nodes = Nodes()
    """The nodes."""
    plugins: Items[Plugin] = ()
    """The device plugins of every node."""
    loads: dict[Name, Load] = Field(default_factory=dict)
    """Loads by name."""
    pod_templates: dict[Name, PodTemplate] = Field(default_factory=dict)
    """Templates of pods by name."""
    phases: Annotated[Items[Phase], Field(min_length=1)]
    """What happens, one phase after the other."""
    reads: Reads = Reads()
    """What is read beside."""
    api_server: ApiServer = ApiServer()
    """The model of an API server."""
    container_runtime: ContainerRuntime = ContainerRuntime()
    """The model of a container runtime."""
    retention: Retention | None = None
    """What is dropped from the history; left out: nothing."""
    matrix: Knobs = Knobs()
    """What is varied; every combination of its values that makes sense is one run."""
    combinations: Annotated[
        Annotated[int, Field(ge=1, le=CHOSEN_MAX), Tag("number")]
        | Annotated[Items[Knobs], Field(min_length=1), Tag("list")],
        Discriminator(_form),
    ] = COMBINATIONS_MAX
    """Which of them are run unless `--matrix` asks for all: at most so many, those that differ
    least from the first value of every knob, or a list of slices. A slice is the matrix with fewer
    or other values of some knobs."""
    measure: Measuring = Measuring()
    """What the results show."""


class ChurnProfile(Model):
    """A benchmark: pods that come and go, the nodes they come to, and ways to keep their bindings.

    `rebind bench list` shows those that come with Rebind, `rebind bench show NAME` prints one.
    """

    api_version: ApiVersion
    """`rebind.internal/v1alpha1`."""
    kind: Literal["ChurnProfile"]
    """`ChurnProfile`."""
    metadata: ProfileMetadata
    """Name, labels and provenance."""
    spec: Spec
    """What comes, to which nodes, and what is varied and measured."""
