"""The matrix of a churn profile, and the slices of it that are run."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from benchmarks.profiles import combinations
from benchmarks.profiles.combinations import KEEPERS, OPTIONS_OF_KNOBS, Statuses, Target
from benchmarks.profiles.schema.nodes import EXISTING_MAX, NODES_MAX
from benchmarks.results.rows import Store, TimeSource
from scenarios.schema.fields import (
    GoDuration,
    Items,
    KubeletVersion,
    Model,
    Wording,
    one_or_list,
)
from scenarios.schema.variants import OPTIONS, Persistence, parse_persistence
from simulator.core.instants import MINUTE
from simulator.engine.spec import ClientLimit
from simulator.ports import Durability
from store.committer import COMMIT_BATCH

FLUSH_PERIOD_MAX = 10 * MINUTE
"""Longest flush period."""
BULK_MAX = 1_000
"""Most pods of one call."""
BURST_MAX = 100_000
"""Largest burst of a client."""
CLIENTS_MAX = 1_000
"""Most connections."""

_OPTIONS = {
    name: tuple(option for option in OPTIONS[name] if (name, option) not in OPTIONS_OF_KNOBS)
    for name in KEEPERS
}
"""The persistences that can be measured and the options of each (details 22), but for those that a
knob of the matrix sets."""

MeasuredPersistence = Annotated[
    Persistence,
    BeforeValidator(partial(parse_persistence, known=_OPTIONS)),
    Wording("persistence, or map of a persistence to its options", tuple(_OPTIONS)),
]
StoreName = Literal["sqlite", "postgresql"]
DurabilityName = Literal["full", "normal", "off"]
TargetName = Literal["inProcess", "pluginSocket"]
ClockName = Literal["real", "virtual"]
StatusesName = Literal["local", "apiServer"]


class KubeApi(Model):
    """Limits of a kubelet's API client: a token bucket that starts full (S12.1)."""

    qps: Annotated[int, Field(ge=1, le=BURST_MAX)]
    """Tokens per second."""
    burst: Annotated[int, Field(ge=1, le=BURST_MAX)]
    """Tokens at most."""


class Knobs(Model):
    """Values of knobs, each one value or a list; every product of them is a combination.

    Knobs that a persistence does not have are not turned for it, and what cannot be is left out.
    """

    persistence: Annotated[Items[MeasuredPersistence], BeforeValidator(one_or_list)] = ()
    """Where bindings are kept; left out: database."""
    store: Annotated[Items[StoreName], BeforeValidator(one_or_list)] = ()
    """What the database, or the API server, writes to; left out: sqlite. Without a PostgreSQL
    server its combinations are left out. Not for files."""
    durability: Annotated[Items[DurabilityName], BeforeValidator(one_or_list)] = ()
    """What a power cut may take from a database; left out: full. Not for files."""
    commit_batch: Annotated[
        Items[Annotated[int, Field(ge=1, le=COMMIT_BATCH)]], BeforeValidator(one_or_list)
    ] = ()
    """Commits that are gathered at most; left out: 512. Not for files, not in virtual time."""
    flush_period: Annotated[
        Items[Annotated[GoDuration, Field(le=FLUSH_PERIOD_MAX)]], BeforeValidator(one_or_list)
    ] = ()
    """How often checkpoint+api writes to the API what has changed; 0ms: at once; left out: 1s."""
    bulk_bind: Annotated[
        Items[Annotated[int, Field(ge=1, le=BULK_MAX)]], BeforeValidator(one_or_list)
    ] = ()
    """Pods that one call of bind-resource binds at most, which is not Kubernetes; left out: 1."""
    kube_api: Annotated[
        Items[KubeApi],
        BeforeValidator(one_or_list),
        Field(alias="kubeAPI"),
    ] = ()
    """Limits of each kubelet's API client; left out: those of its version. Only where bindings or
    statuses go to an API server, and in virtual time."""
    added_fsync: Annotated[Items[GoDuration], BeforeValidator(one_or_list)] = ()
    """How much longer every fsync takes; left out: 0ms."""
    kubelet_version: Annotated[Items[KubeletVersion], BeforeValidator(one_or_list)] = ()
    """Kubelet versions; left out: the newest one."""
    nodes: Annotated[
        Items[Annotated[int, Field(ge=1, le=NODES_MAX)]], BeforeValidator(one_or_list)
    ] = ()
    """Numbers of nodes; left out: the profile's own."""
    existing: Annotated[
        Items[Annotated[int, Field(ge=0, le=EXISTING_MAX)]], BeforeValidator(one_or_list)
    ] = ()
    """Numbers of pods that each node has at the start; left out: the profile's own."""
    clients: Annotated[
        Items[Annotated[int, Field(ge=1, le=CLIENTS_MAX)]], BeforeValidator(one_or_list)
    ] = ()
    """Requests of all kubelets together to the API server that are under way at most, as with so
    many connections; left out: any number. Only where something goes to it."""
    target: Annotated[Items[TargetName], BeforeValidator(one_or_list)] = ()
    """Whether plugins answer in the process that decides, or over their sockets; left out:
    inProcess."""
    clock: Annotated[Items[ClockName], BeforeValidator(one_or_list)] = ()
    """The real clock with real files, or virtual time with models of them; left out: real."""
    statuses: Annotated[Items[StatusesName], BeforeValidator(one_or_list)] = ()
    """Where the statuses of pods go whose bindings do not go to the API: nowhere, or to an API
    server under the limits of kubeAPI, as those of the others, so that like is compared with like;
    left out: local. On the real clock."""
    status_coalesce: Annotated[Items[bool], BeforeValidator(one_or_list)] = ()
    """Whether several changes of one pod's status that wait are one patch, as in a kubelet (S12.3),
    or each is a GET and a PATCH of its own, as in simple models; left out: true. Only where
    bindings or statuses go to an API server, and in virtual time."""

    def given(self) -> list[str]:
        """Return the names of the knobs that were given, in order."""
        return [name for name in type(self).model_fields if getattr(self, name)]

    def over(self, matrix: combinations.Matrix) -> combinations.Matrix:
        """Return a matrix in which the values that were given take the place of its own."""
        made = {
            "store": tuple(Store(name) for name in self.store),
            "durability": tuple(Durability(name) for name in self.durability),
            "kube_api": tuple(ClientLimit(one.qps, one.burst) for one in self.kube_api),
            "target": tuple(Target(name) for name in self.target),
            "clock": tuple(TimeSource(name) for name in self.clock),
            "statuses": tuple(Statuses(name) for name in self.statuses),
        }
        values = {name: made.get(name, getattr(self, name)) for name in self.given()}
        return matrix.with_values(values)
