"""From the matrix of a profile to the combinations that are run.

What makes no sense is left out by rule (`_RULES`): a knob that a persistence does not have is not
turned. Of more combinations than a profile wants, those are taken that differ least from the first
value of every knob, of each persistence in turn: so rows can be compared in pairs, and no
persistence is missing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import partial
from typing import Final

from benchmarks.results.rows import Setting, Store, TimeSource
from scenarios.schema.variants import Persistence, written_option
from simulator.config import DEFAULT_KUBELET_VERSION
from simulator.core.instants import SECOND, Duration
from simulator.core.persistence.choosing import OptionValue
from simulator.engine.spec import ClientLimit
from simulator.ports import Durability
from store.committer import COMMIT_BATCH

COMBINATIONS_MAX: Final = 12
"""How many a profile runs unless it says otherwise (details 25)."""


PRODUCTS_MAX: Final = 20_000
"""Most products of the values of a matrix."""


class Target(StrEnum):
    """How a pod's admission reaches the device plugins."""

    IN_PROCESS = "inProcess"
    """Plugins answer in the process that decides."""
    PLUGIN_SOCKET = "pluginSocket"
    """Plugins are asked over their sockets, as real ones are."""


class Statuses(StrEnum):
    """Where kubelets write the statuses of pods whose bindings do not go to the API."""

    LOCAL = "local"
    """Nowhere: nothing takes long, and nothing limits them."""
    API_SERVER = "apiServer"
    """To an API server, as the kubelets do whose bindings go there."""


class Keeper(StrEnum):
    """What a persistence keeps bindings in."""

    FILE = "file"
    DATABASE = "database"
    API = "api"


KEEPERS: Final[dict[str, frozenset[Keeper]]] = {
    "checkpoint": frozenset({Keeper.FILE}),
    "database": frozenset({Keeper.DATABASE}),
    "dual-write": frozenset({Keeper.FILE, Keeper.DATABASE}),
    "checkpoint+api": frozenset({Keeper.FILE, Keeper.API}),
    "bind-resource": frozenset({Keeper.API}),
    "pod-status": frozenset({Keeper.FILE, Keeper.API}),
    "binding-object": frozenset({Keeper.API}),
}
"""The persistences that can be measured, and where each keeps bindings (details 22)."""

_FLUSH_PERIOD: Final = ("checkpoint+api", "flushPeriod")
_BULK_BIND: Final = ("bind-resource", "bulkBind")
OPTIONS_OF_KNOBS: Final = frozenset({_FLUSH_PERIOD, _BULK_BIND})
"""Options of persistences that are set by a knob of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """One choice of every knob; None where a persistence has no such knob.

    Attributes:
        store: Of the database that the persistence, or the API server, writes.
        commit_batch: Commits that the committer gathers at most.
        flush_period: Of `checkpoint+api`; 0: dirty pods do not wait.
        bulk_bind: Pods that one call of `bind-resource` binds at most; not Kubernetes.
        kube_api: Limits of each kubelet's API client; None: those of its version.
        clients: Requests to the API server that are under way at most; None: any number.
        statuses: Where they go, on the real clock, when bindings do not go to the API.
        status_coalesce: Whether several changes of one pod's status are one patch, as in a kubelet.
    """

    persistence: Persistence
    store: Store | None
    durability: Durability | None
    commit_batch: int | None
    flush_period: Duration | None
    bulk_bind: int | None
    kube_api: ClientLimit | None
    added_fsync: Duration
    kubelet_version: str
    nodes: int
    existing: int
    clients: int | None
    target: Target
    clock: TimeSource
    statuses: Statuses | None = Statuses.LOCAL
    status_coalesce: bool | None = True

    @property
    def keepers(self) -> frozenset[Keeper]:
        """Where its bindings are kept."""
        return KEEPERS[self.persistence.name]

    @property
    def has_api_server(self) -> bool:
        """Whether its kubelets write to an API server."""
        return Keeper.API in self.keepers or self.statuses is Statuses.API_SERVER

    @property
    def persistence_options(self) -> tuple[tuple[str, OptionValue], ...]:
        """All options that the strategy is made with, sorted; those of the knobs too."""
        options = dict(self.persistence.options)
        if self.flush_period is not None:
            options[_FLUSH_PERIOD[1]] = self.flush_period
        if self.bulk_bind is not None:
            options[_BULK_BIND[1]] = self.bulk_bind > 1
        return tuple(sorted(options.items()))

    @property
    def setting(self) -> Setting:
        """The combination as rows of results name it."""
        limits = self.kube_api
        return Setting(
            persistence=self.persistence.name,
            options=tuple(sorted(self._options())),
            store=self._shown_store(),
            clock=self.clock,
            durability=self.durability or Durability.FULL,
            commit_batch=self.commit_batch,
            flush_period=self.flush_period,
            bulk_bind=self.bulk_bind,
            qps=limits.qps if limits is not None else None,
            burst=limits.burst if limits is not None else None,
            added_fsync=self.added_fsync,
            nodes=self.nodes,
            existing=self.existing,
            clients=self.clients,
        )

    def _shown_store(self) -> Store:
        if Keeper.API in self.keepers:
            return Store.API
        return self.store if self.store is not None else Store.FILE

    def _options(self) -> Iterator[tuple[str, str]]:
        for name, value in self.persistence.options:
            yield name, written_option(value)
        if Keeper.API in self.keepers and self.store is Store.POSTGRESQL:
            yield "apiStore", self.store.value
        if self.status_coalesce is False:
            yield "statusCoalesce", "false"
        if self.kubelet_version != DEFAULT_KUBELET_VERSION:
            yield "kubeletVersion", self.kubelet_version
        if self.target is not Target.IN_PROCESS:
            yield "target", self.target.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The values of each knob; every product of them is a combination.

    Attributes:
        nodes, existing: Empty for the profile's own.
    """

    persistence: tuple[Persistence, ...] = (Persistence("database"),)
    store: tuple[Store, ...] = (Store.SQLITE,)
    durability: tuple[Durability, ...] = (Durability.FULL,)
    commit_batch: tuple[int, ...] = (COMMIT_BATCH,)
    flush_period: tuple[Duration, ...] = (Duration(SECOND),)
    bulk_bind: tuple[int, ...] = (1,)
    kube_api: tuple[ClientLimit | None, ...] = (None,)
    added_fsync: tuple[Duration, ...] = (Duration(0),)
    kubelet_version: tuple[str, ...] = (DEFAULT_KUBELET_VERSION,)
    nodes: tuple[int, ...] = ()
    existing: tuple[int, ...] = ()
    clients: tuple[int | None, ...] = (None,)
    target: tuple[Target, ...] = (Target.IN_PROCESS,)
    clock: tuple[TimeSource, ...] = (TimeSource.REAL,)
    statuses: tuple[Statuses, ...] = (Statuses.LOCAL,)
    status_coalesce: tuple[bool, ...] = (True,)

    def with_values(self, values: Mapping[str, tuple[object, ...]]) -> Matrix:
        """Return the matrix with other values of some knobs."""
        return replace(self, **values)  # type: ignore[arg-type]  # the schema knows each type

    def of(self, *, nodes: int, existing: int) -> Matrix:
        """Return the matrix with a profile's own number of nodes and of existing pods."""
        return replace(self, nodes=self.nodes or (nodes,), existing=self.existing or (existing,))


def _has_database(one: Combination) -> bool:
    return bool(one.keepers & {Keeper.DATABASE, Keeper.API})


def _commits_really(one: Combination) -> bool:
    return _has_database(one) and one.clock is TimeSource.REAL


def _has_api_client(one: Combination) -> bool:
    return one.has_api_server or one.clock is TimeSource.VIRTUAL


_HAS_API_CLIENT: Final = "only where bindings or statuses go to an API server, or in virtual time"
_RULES: Final[dict[str, tuple[Callable[[Combination], bool], str]]] = {
    "store": (_has_database, "only where a database or an API server is written"),
    "durability": (_has_database, "only where a database or an API server is written"),
    "commit_batch": (
        _commits_really,
        "only where a database or an API server is written, on the real clock",
    ),
    "flush_period": (
        lambda one: one.persistence.name == "checkpoint+api",
        "only under checkpoint+api",
    ),
    "bulk_bind": (
        lambda one: one.persistence.name == "bind-resource",
        "only under bind-resource",
    ),
    "kube_api": (_has_api_client, _HAS_API_CLIENT),
    "status_coalesce": (_has_api_client, _HAS_API_CLIENT),
    "clients": (
        lambda one: one.has_api_server and one.clock is TimeSource.REAL,
        "only where bindings or statuses go to an API server, on the real clock",
    ),
    "statuses": (
        lambda one: Keeper.API not in one.keepers and one.clock is TimeSource.REAL,
        "only where bindings do not go to the API, on the real clock",
    ),
}
"""Knobs that not every combination has: which do, and that in words."""


def _is_possible(one: Combination) -> bool:
    virtual = one.clock is TimeSource.VIRTUAL
    return not (virtual and (one.target is Target.PLUGIN_SOCKET or one.store is Store.POSTGRESQL))


def size(matrix: Matrix) -> int:
    """Return how many products a matrix has, those that make no sense included."""
    return math.prod(len(getattr(matrix, field.name)) for field in fields(Matrix))


def product(matrix: Matrix) -> tuple[Combination, ...]:
    """Return all combinations of a matrix that make sense, each once, in the matrix's order."""
    names = [field.name for field in fields(Matrix)]
    chosen = [getattr(matrix, name) for name in names]
    every = (
        _without_idle_knobs(Combination(**dict(zip(names, values, strict=True))))
        for values in itertools.product(*chosen)
    )
    return tuple(dict.fromkeys(one for one in every if _is_possible(one)))


def idle_knob(matrix: Matrix, given: Sequence[str]) -> tuple[str, str] | None:
    """Return a knob among those that were given which no combination has, and where it would be.

    Args:
        matrix: With a number of nodes and of existing pods.
        given: Names of knobs, as fields of `Combination`.
    """
    combinations = product(matrix)
    for name in given:
        if name in _RULES and not any(_RULES[name][0](one) for one in combinations):
            return name, _RULES[name][1]
    return None


def _without_idle_knobs(one: Combination) -> Combination:
    idle = {name: None for name, (applies, _) in _RULES.items() if not applies(one)}
    return replace(one, **idle)  # type: ignore[arg-type]  # these knobs may be None


def nearest_first(combinations: Sequence[Combination], most: int) -> tuple[Combination, ...]:
    """Return at most so many, in the order that they had.

    Of each persistence in turn the one is taken that differs least from its first.
    """
    queues: dict[Persistence, list[Combination]] = {}
    for one in combinations:
        queues.setdefault(one.persistence, []).append(one)
    for queue in queues.values():
        queue.sort(key=partial(_difference, queue[0]))
    turns = itertools.zip_longest(*queues.values())
    taken = [one for turn in turns for one in turn if one is not None][:most]
    return tuple(one for one in combinations if one in taken)


def _difference(first: Combination, one: Combination) -> int:
    return sum(
        getattr(one, field.name) != getattr(first, field.name) for field in fields(Combination)
    )
