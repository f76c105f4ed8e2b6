"""What a rig is to be like, said in plain values: version, persistence, nodes, faults."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from scenarios.schema.variants import parse_persistence
from simulator.core.instants import Duration, parse_duration
from simulator.core.switches import behavior_for
from simulator.core.transitions import NodeName
from simulator.engine.actions import When
from simulator.engine.faults import Fault, FaultKind, Op
from simulator.engine.spec import NodeSpec, SimulationSpec
from simulator.errors import ConfigError

T = TypeVar("T", FaultKind, Op, When)

NODES_MAX: Final = 100
"""Most nodes of one rig."""
_KEYS: Final = ("fault", "op", "node", "plugin", "nth", "phase", "duration", "message")


def spec_of(version: object, persistence: object, nodes: object = 1) -> SimulationSpec:
    """Return what live nodes `n0`, `n1`, … start from.

    Args:
        version: The kubelets' version, e.g. `1.27.2`.
        persistence: E.g. `checkpoint`, `database`, or `checkpoint:dirFsync=true`.
        nodes: How many there are.

    Raises:
        ConfigError: One of them is not usable.
    """
    if not isinstance(nodes, int) or not 1 <= nodes <= NODES_MAX:
        reason = f"nodes is {nodes!r}, expected a number from 1 to {NODES_MAX}"
        raise ConfigError(reason)
    if not isinstance(version, str):
        reason = f"version is {version!r}, expected a text such as '1.27.2'"
        raise ConfigError(reason)
    try:
        behavior_for(version)
        kept = parse_persistence(persistence)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return SimulationSpec(
        nodes=tuple(NodeSpec(NodeName(f"n{number}")) for number in range(nodes)),
        kubelet_version=version,
        persistence=kept.name,
        persistence_options=kept.options,
    )


def faults_of(told: Iterable[Mapping[str, object]]) -> tuple[Fault, ...]:
    """Return faults that are told in the words of scenarios.

    One is, for example, `{"fault": "latency", "op": "allocate", "duration": "2s", "nth": "each"}`.
    `fault` is crash, latency, error, hang, socketLoss, powerCut or diskFull; `op` an effect such as
    register, listAndWatch, allocate, preferredAllocation, preStart, write or commit; `nth` a number
    (1 unless told) or `each`; `phase` before or after; `node` and `plugin` narrow it.

    Raises:
        ConfigError: A key or a value is not known.
    """
    return tuple(_fault(each) for each in told)


def _fault(told: Mapping[str, object]) -> Fault:
    for key in told:
        if key not in _KEYS:
            reason = f"a fault has no key {key!r}{_nearest(key, _KEYS)}"
            raise ConfigError(reason)
    if "fault" not in told:
        reason = f"a fault says what goes wrong with the key 'fault'; found {dict(told)}"
        raise ConfigError(reason)
    nth = told.get("nth", 1)
    if nth != "each" and not (isinstance(nth, int) and nth > 0):
        reason = f"nth of a fault is {nth!r}, expected a number from 1 on, or 'each'"
        raise ConfigError(reason)
    duration = told.get("duration")
    return Fault(
        kind=_word(FaultKind, "fault", told["fault"]),
        op=_word(Op, "op", told["op"]) if "op" in told else None,
        node=NodeName(str(told["node"])) if "node" in told else None,
        target=str(told.get("plugin", "")),
        nth=nth if isinstance(nth, int) else None,
        when=_word(When, "phase", told.get("phase", When.BEFORE.value)),
        duration=None if duration is None else _span(duration),
        message=str(told.get("message", "input/output error")),
    )


def _word(kind: type[T], key: str, value: object) -> T:
    words: dict[str, T] = {str(each.value): each for each in kind}
    if str(value) not in words:
        reason = f"{key} of a fault is {value!r}{_nearest(str(value), list(words))}"
        raise ConfigError(reason)
    return words[str(value)]


def _span(value: object) -> Duration:
    try:
        return parse_duration(str(value))
    except ValueError as error:
        reason = f"duration of a fault: {error}"
        raise ConfigError(reason) from error


def _nearest(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(known)}"
