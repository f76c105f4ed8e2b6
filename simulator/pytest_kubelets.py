"""What the pytest plugin's fixtures are made of; loaded by the first test that uses one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import pytest

from simulator.assembly.worlds import live_nodes
from simulator.config import DEFAULT_KUBELET_VERSION
from simulator.core.transitions import NodeName
from simulator.errors import ConfigError
from simulator.rig.choices import faults_of, spec_of
from simulator.rig.kubelet import Kubelet
from simulator.rig.loop_thread import LoopThread
from simulator.rig.rig import Rig

DEFAULT_PERSISTENCE = "database"


@contextmanager
def kubelets(thread: LoopThread, asked: Mapping[str, object]) -> Iterator[Callable[[str], Kubelet]]:
    """Run live nodes, and yield what returns the kubelet of one by its name.

    Args:
        thread: Where they live.
        asked: Keywords of the marker: version, persistence, faults, nodes.
    """
    try:
        spec = spec_of(
            asked.get("version", DEFAULT_KUBELET_VERSION),
            asked.get("persistence", DEFAULT_PERSISTENCE),
            asked.get("nodes", 1),
        )
        faults = faults_of(_mappings(asked.get("faults", ())))
    except ConfigError as error:
        pytest.fail(f"kubelet: {error}", pytrace=False)

    with Rig(spec, partial(live_nodes, faults=faults), thread) as rig:

        def by_name(name: str = "n0") -> Kubelet:
            """Return the kubelet of a node."""
            found = rig.kubelets.get(NodeName(name))
            if found is None:
                there = ", ".join(rig.kubelets)
                pytest.fail(
                    f"there is no node {name}; there: {there}; "
                    "more with @pytest.mark.kubelet(nodes=...)",
                    pytrace=False,
                )
            return found

        yield by_name


def _mappings(faults: object) -> Iterable[Mapping[str, object]]:
    if isinstance(faults, list | tuple) and all(isinstance(each, Mapping) for each in faults):
        return faults
    reason = f"faults is {faults!r}, expected a list of maps such as {{'fault': 'hang', ...}}"
    raise ConfigError(reason)
