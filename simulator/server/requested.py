"""What a request names: objects, and how long something is to be down."""

from __future__ import annotations

from typing import Final

from simulator.core.instants import HOUR, Duration
from simulator.errors import ConfigError
from simulator.protocol import rebind_control_pb2 as control
from simulator.server.manifests import WORKLOADS, ObjectKey
from simulator.server.pods import POD

_DOWN_MAX: Final = Duration(24 * HOUR)


def key_of(named: control.ObjectName) -> ObjectKey:
    """Return the key of an object.

    Raises:
        ConfigError: Objects of its kind are not to be deleted.
    """
    namespace = named.namespace or "default"
    if named.kind == POD:
        return ObjectKey(POD, namespace, named.name)
    if named.kind in WORKLOADS:
        return ObjectKey(WORKLOADS[named.kind], namespace, named.name)
    reason = f'"{named.kind[:40]}" cannot be deleted; pod, deployment, replicaset and job can'
    raise ConfigError(reason)


def down_of(nanoseconds: int) -> Duration:
    """Return how long a node or kubelet is to be down.

    Raises:
        ConfigError: That is too long, or negative.
    """
    if not 0 <= nanoseconds <= _DOWN_MAX:
        reason = "a node or kubelet can be down for 0s to 24h"
        raise ConfigError(reason)
    return Duration(nanoseconds)
