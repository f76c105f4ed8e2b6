"""The pods of a server whose nodes are clients of an API server: that one has the truth.

What is applied is created there, what is deleted is deleted there, and what is shown comes from
there; a pod of a manifest that is there already must say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from scenarios.files.documents import Plain
from simulator.api.client.http import Answer
from simulator.api.client.paths import path_of
from simulator.api.dialect.documents import Json, Object, mapping
from simulator.api.dialect.kinds import PODS
from simulator.core.pods import PodUid
from simulator.engine.api_copy import pod_seen
from simulator.engine.spec import SimulationSpec
from simulator.errors import (
    ApiUnreachableError,
    ObjectConflictError,
    ObjectNotFoundError,
    ServerError,
)
from simulator.live.remote.api import RemoteApi
from simulator.live.remote.beginning import found_pods
from simulator.live.remote.documents import deletion
from simulator.live.remote.pods import read_pod
from simulator.live.settings import LiveSettings
from simulator.server.kept import Kept, kept_pod
from simulator.server.manifests import Applied, ObjectKey
from simulator.server.pods import POD, Pods

_CONFLICT: Final = 409
_NOT_FOUND: Final = 404


async def kept_there(run: SimulationSpec, settings: LiveSettings) -> Kept:
    """Return the pods that an API server has for the nodes: their containers run already.

    Raises:
        ServerError: The server is away, or lacks what the nodes need.
    """
    kept = Kept()
    if settings.api is None:
        return kept
    names = [node.name for node in run.nodes]
    found = await found_pods(settings.api, names, run.persistence)
    for uid, document in found.items():
        try:
            pod = pod_seen(read_pod(document))
        except ValueError:
            continue  # The one who follows says so.
        kept.pods[uid] = kept_pod(pod, cast("Mapping[str, Plain]", document))
    return kept


class RemotePods:
    """Creates and deletes pods in an API server.

    Args:
        remote: The server.
    """

    def __init__(self, remote: RemoteApi) -> None:
        self._remote = remote
        self._client = remote.client

    def document_of(self, uid: PodUid) -> Mapping[str, Plain] | None:
        """Return a pod as the server shows it; None when it is not followed."""
        return cast("Mapping[str, Plain] | None", self._remote.document_of(uid))

    def are_decided(self, objects: Sequence[Applied], pods: Pods) -> bool:
        """Tell whether all these pods are decided that nodes of this server will have."""
        return all(
            (pod := pods.find(each.key.namespace, each.key.name)) is not None and pod.is_decided
            for each in objects
            if self._remote.covers(each.templates[0].spec.node)
        )

    def are_gone(self, keys: Sequence[ObjectKey], pods: Pods) -> bool:
        """Tell whether none of these pods is followed any more."""
        return all(pods.find(key.namespace, key.name) is None for key in keys)

    async def apply(self, objects: Sequence[Applied]) -> list[tuple[ObjectKey, str]]:
        """Create pods, in order; what is created stays, should one be refused.

        Returns:
            Each with `created` or `unchanged`.

        Raises:
            InputError: One is no pod: there is no controller for it.
            ObjectConflictError: One is there already and says something else.
            ServerError: The server refuses one, or is away.
        """
        for each in objects:
            if each.key.resource != POD:
                reason = (
                    f"{each.key} cannot be run: the pods are an API server's, and controllers are "
                    "not Rebind's there; apply pods, or use `rebind serve` without an API server"
                )
                raise each.fault(reason)
        return [(each.key, await self._apply(each)) for each in objects]

    async def delete(self, keys: Sequence[ObjectKey], *, force: bool, grace_s: int | None) -> None:
        """Delete pods.

        Raises:
            ObjectNotFoundError: One is not there; those before it are deleted.
            ServerError: The server refuses, or is away.
        """
        for key in keys:
            if key.resource != POD:
                message = f'{key.resource} "{key.name}" not found; there are only pods'
                raise ObjectNotFoundError(message)
            options = deletion(grace=0 if force else grace_s)
            answer = await self._ask("DELETE", key, options)
            if answer.code == _NOT_FOUND:
                message = f'pod "{key.name}" not found: {answer.message}'
                raise ObjectNotFoundError(message)
            _granted(answer, f"{key} is not deleted")

    async def _apply(self, applied: Applied) -> str:
        [template] = applied.templates
        manifest = cast("Object", dict(template.manifest))
        manifest.pop("status", None)
        path = path_of(PODS, applied.key.namespace)
        try:
            answer = await self._client.ask("POST", path, manifest)
            if answer.code == _CONFLICT:
                present = await self._ask("GET", applied.key, None)
                if not present.is_refused and _says(present.document, manifest):
                    return "unchanged"
        except ApiUnreachableError as error:
            raise ServerError(str(error)) from error
        if answer.code == _CONFLICT:
            reason = (
                f"{applied.key} is there already with another manifest, and what is there cannot "
                f"be changed; delete it first: rebind delete pod {applied.key.name}"
            )
            raise ObjectConflictError(str(applied.fault(reason)))
        _granted(answer, f"{applied.key} is not created")
        return "created"

    async def _ask(self, method: str, key: ObjectKey, body: Json) -> Answer:
        try:
            return await self._client.ask(method, path_of(PODS, key.namespace, key.name), body)
        except ApiUnreachableError as error:
            raise ServerError(str(error)) from error


def _granted(answer: Answer, what: str) -> None:
    if answer.is_refused:
        reason = f"{what}: {answer.message}"
        raise ServerError(reason)


def _says(present: Object, wanted: Object) -> bool:
    """Tell whether an object says all that a manifest wants; it may say more."""
    said = {"metadata": mapping(present, "metadata"), "spec": mapping(present, "spec")}
    return all(_covers(said[part], wanted.get(part, {})) for part in said)


def _covers(present: Json, wanted: Json) -> bool:
    if isinstance(wanted, dict):
        return isinstance(present, dict) and all(
            _covers(present.get(key), value) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        # In its order, and with more between: admission adds volumes, tolerations, containers.
        left = iter(present if isinstance(present, list) else ())
        return all(any(_covers(one, other) for one in left) for other in wanted)
    return wanted is None or str(present) == str(wanted)
