"""How a pod stands, from the status in its manifest, as `kubectl get pods -o yaml` prints it."""

from __future__ import annotations

from typing import Final

from scenarios.files.documents import Path
from scenarios.files.phrases import found
from scenarios.files.values import Values
from scenarios.kubernetes.manifests import ManifestPod
from simulator.core.pods import ContainerName
from simulator.engine.spec import ContainerStart, ContainerState, PodStart

PHASES: Final = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
"""The phases of the API; of an unknown one the containers tell more."""
RESTARTS_MAX: Final = 1_000_000
"""Most restarts of a container that are read."""

EXIT_CODE_MAX: Final = 2**31 - 1
"""Largest exit code that is read."""

_STATUS_KEYS: Final = ("initContainerStatuses", "containerStatuses")


def read_pod_start(manifest: ManifestPod) -> PodStart:
    """Return how the pod of a manifest stands; without a status it runs.

    Raises:
        InputError: The status is not one of a pod.
    """
    values = Values(manifest.document)
    status = (*manifest.path, "status")
    if not values.has(status):
        return PodStart(restart_policy=manifest.restart_policy)
    values.keys(status)
    phase = values.text((*status, "phase"), default="Running")
    if phase not in PHASES:
        reason = f"status.phase: {found(phase)} is no phase; there are {', '.join(PHASES)}"
        raise values.fault((*status, "phase"), reason)
    containers = dict(
        _container(values, item) for key in _STATUS_KEYS for item in values.items((*status, key))
    )
    return PodStart(
        phase="Running" if phase == "Unknown" else phase,
        reason=values.text((*status, "reason"), default=""),
        message=values.text((*status, "message"), default=""),
        restart_policy=manifest.restart_policy,
        containers=containers,
    )


def _container(values: Values, path: Path) -> tuple[ContainerName, ContainerStart]:
    values.keys(path)
    name = ContainerName(values.text((*path, "name")))
    restarts = values.whole((*path, "restartCount"), default=0, most=RESTARTS_MAX)
    return name, ContainerStart(_state(values, (*path, "state")), restarts)


def _state(values: Values, path: Path) -> ContainerState:
    """Return the state; without one the container waits, as the API says of it."""
    if not values.has(path):
        return ContainerState.WAITING
    given = values.keys(path)
    if "running" in given:
        return ContainerState.RUNNING
    if "terminated" not in given:
        return ContainerState.WAITING
    code = (*path, "terminated", "exitCode")
    succeeded = values.whole(code, default=0, most=EXIT_CODE_MAX) == 0
    return ContainerState.SUCCEEDED if succeeded else ContainerState.FAILED
