"""Refuses a spec that no run can start from, with the choices that there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from simulator.core.machine import TopologyPolicy, TopologyScope
from simulator.core.persistence.choosing import STRATEGIES
from simulator.engine.spec import SimulationSpec
from simulator.errors import ConfigError

CHOICES: Final = ("sorted", "random")


def check_spec(spec: SimulationSpec) -> None:
    """Check what a spec names.

    Raises:
        ConfigError: It names something twice, or something that is not there.
    """
    _one_of(spec.persistence, STRATEGIES, "persistence")
    for option, _ in spec.persistence_options:
        _one_of(option, STRATEGIES[spec.persistence].options, f"option of {spec.persistence}")
    _one_of(spec.choice, CHOICES, "choice")
    nodes = [node.name for node in spec.nodes]
    _each_once(nodes, "node")
    for node in spec.nodes:
        policies = [policy.value for policy in TopologyPolicy]
        _one_of(node.topology_manager_policy, policies, "topology manager policy")
        scopes = [scope.value for scope in TopologyScope]
        _one_of(node.topology_manager_scope, scopes, "topology manager scope")
    _each_once([plugin.name for plugin in spec.plugins], "plugin")
    for plugin in spec.plugins:
        _one_of(plugin.node, nodes, "node of this run")
    _each_once([pod.name for pod in spec.pods], "pod")
    for pod in spec.pods:
        if pod.node is not None:
            _one_of(pod.node, nodes, "node of this run")
        elif pod.static:
            message = f'the static pod "{pod.name}" stands in a file of a node; name the node'
            raise ConfigError(message)


def _one_of(name: str, allowed: Iterable[str], kind: str) -> None:
    if name not in allowed:
        message = f'"{name}" is no {kind}; there are: {", ".join(allowed) or "none"}'
        raise ConfigError(message)


def _each_once(names: Iterable[str], kind: str) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            message = f'the {kind} "{name}" is there {count} times; names must differ'
            raise ConfigError(message)
