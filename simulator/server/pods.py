"""The pods and workloads of a world, by what their manifests call them: create, find, delete."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from scenarios.files.documents import Plain
from simulator.core.instants import Duration, Instant
from simulator.core.pods import PodUid
from simulator.core.transitions import NodeName, PodIdentity
from simulator.engine.api_objects import NO_NODE, ApiPod
from simulator.engine.spec import Controller
from simulator.engine.world import World
from simulator.errors import ObjectConflictError, ObjectNotFoundError
from simulator.server.kept import Kept, KeptPod, pod_text
from simulator.server.manifests import Applied, ObjectKey, Template, content_of, with_grace
from simulator.server.naming import known, within
from simulator.server.pod_notes import PodNotes
from simulator.server.recordings.inputs import Input, PodUnwanted, PodWanted

IDENTITIES_MAX: Final = 10_000
"""Pods whose names are remembered, gone ones too; the oldest are forgotten first."""

GONE_MAX: Final = 1_000
"""Pods that have gone of which it is still known what they were made of."""

POD: Final = "pod"


def random_uid(_: str) -> PodUid:
    """Return a uid that no other pod has had, in this server or an earlier one."""
    return PodUid(str(uuid.uuid4()))


Shown = Callable[[PodUid], Mapping[str, Plain] | None]
Told = Callable[[NodeName, Input], None]
"""Told of a command that reaches the pods."""


class Pods:
    """Pods and workloads; their uids are new ones in every server.

    Args:
        world: Where they live.
        told: Told of what is done with them.
        gone_max: About how many pods must have gone before it is forgotten what they were made of.
        shown: Returns a pod as an API server shows it, if one has the pods.

    Attributes:
        notes: What is kept of them over restarts of the server.
    """

    def __init__(
        self,
        world: World,
        told: Told = lambda _node, _input: None,
        *,
        gone_max: int = GONE_MAX,
        shown: Shown | None = None,
    ) -> None:
        self._world = world
        self._shown = shown
        self._told = told
        world.factory.new_uid = random_uid
        world.factory.free_name = self._free_name
        self._contents: dict[ObjectKey, str] = {}
        self._workloads: dict[ObjectKey, tuple[str, ...]] = {}
        self._manifests: dict[tuple[str, str], Mapping[str, Plain]] = {}
        self._gone: dict[tuple[str, str], None] = {}
        self._gone_max = gone_max
        self._identities: dict[PodUid, PodIdentity] = {}
        self._deleted_at: dict[PodUid, Instant] = {}
        self._by_name: dict[tuple[str, str], ApiPod] = {}
        self.notes = PodNotes(self.manifest_of)
        world.api.watch_pods(self._changed)

    # Over restarts of the server

    def restore(self, kept: Kept) -> None:
        """Know the pods of an earlier server again; the nodes have those that are bound."""
        for workload in kept.workloads.values():
            key = ObjectKey(workload.resource, workload.namespace, workload.name)
            self._workloads[key] = workload.pods
            self._contents[key] = workload.content
        for each in kept.pods.values():
            manifest = json.loads(each.manifest)
            self._manifests[each.namespace, each.spec_name] = manifest
            if each.controller is Controller.NONE:
                self._contents[ObjectKey(POD, each.namespace, each.name)] = content_of(manifest)
            pod = self._world.api.pod(each.uid)
            if pod is None:
                if not each.node:
                    self._world.api.create(ApiPod(each.spec, each.pod))
                continue
            pod.spec = each.spec
            self._changed(pod)
            if each.deleting:
                self.delete(pod, force=False)

    # Reading

    def all(self) -> list[ApiPod]:
        """Return the pods that the API has, in order of creation."""
        return self._world.api.pods()

    def find(self, namespace: str, name: str) -> ApiPod | None:
        """Return the pod of a name; None when there is none."""
        return self._by_name.get((namespace, name))

    def found(self, namespace: str, name: str) -> ApiPod:
        """Return the pod of a name.

        Raises:
            ObjectNotFoundError: There is none.
        """
        pod = self.find(namespace, name)
        if pod is None:
            names = [each.pod.name for each in self.all() if each.pod.namespace == namespace]
            message = f'pod "{name}" not found{within(namespace)}; {known(names)}'
            raise ObjectNotFoundError(message)
        return pod

    def manifest_of(self, pod: ApiPod) -> Mapping[str, Plain]:
        """Return what a pod was made from; empty for one that was made from no manifest."""
        if (document := self.document_of(pod)) is not None:
            return document
        return self._manifests.get((pod.pod.namespace, pod.spec.name), {})

    def document_of(self, pod: ApiPod) -> Mapping[str, Plain] | None:
        """Return a pod as an API server shows it; None where none has it."""
        return None if self._shown is None else self._shown(pod.uid)

    def labels_of(self, pod: ApiPod) -> dict[str, str]:
        """Return a pod's labels."""
        metadata = self.manifest_of(pod).get("metadata")
        labels = metadata.get("labels") if isinstance(metadata, dict) else None
        return (
            {name: str(value) for name, value in labels.items()} if isinstance(labels, dict) else {}
        )

    def deleted_at(self, pod: ApiPod) -> Instant | None:
        """Return when a pod's deletion was asked for; None when it was not."""
        return self._deleted_at.get(pod.uid)

    def forget(self, pod: ApiPod) -> None:
        """Let go of a pod that is gone, once everyone was told."""
        self._deleted_at.pop(pod.uid, None)
        self._forget_manifests(pod)

    def identify(self, uid: PodUid) -> PodIdentity:
        """Return namespace and name of a pod, of one that is gone too."""
        pod = self._world.api.pod(uid)
        if pod is not None:
            return PodIdentity(uid, pod.pod.namespace, pod.pod.name)
        return self._identities.get(uid, PodIdentity(uid))

    # Writing

    def apply(self, objects: Sequence[Applied]) -> list[tuple[ObjectKey, str]]:
        """Create objects, all or none.

        Returns:
            Each with `created` or `unchanged`.

        Raises:
            ObjectConflictError: One is there already and says something else.
            InputError: One names a node that is not there.
        """
        outcomes: list[tuple[ObjectKey, str]] = []
        created: dict[ObjectKey, Applied] = {}
        names: set[tuple[str, str]] = set()
        for each in objects:
            if self._is_there(each) or each.key in created:
                before = created[each.key].content if each.key in created else None
                self._compare(each, before or self._contents.get(each.key, ""))
                outcomes.append((each.key, "unchanged"))
                continue
            self._check(each, names)
            created[each.key] = each
            outcomes.append((each.key, "created"))
        with self.notes.together():
            for key, each in created.items():
                self._contents[key] = each.content
                if key.resource != POD:
                    names_of = tuple(template.spec.name for template in each.templates)
                    self._workloads[key] = names_of
                    self.notes.workload(key, each.content, names_of)
                for template in each.templates:
                    self._create(template)
        return outcomes

    def delete(self, pod: ApiPod, *, force: bool, grace_s: int | None = None) -> None:
        """Delete a pod, gracefully or by force (S6.5); asked for again, only a force counts."""
        if force or not pod.deleting:
            spec = pod.spec if grace_s is None else with_grace(pod.spec, grace_s)
            replaced = spec.controller is not Controller.NONE
            grace = spec.termination_grace
            self.unmake(pod.uid, force=force, grace=grace, replaced=replaced)

    # Done again in a replay

    def make(self, kept: KeptPod, name: str) -> None:
        """Create a pod as it was created."""
        self._manifests[kept.namespace, kept.spec_name] = json.loads(kept.manifest)
        spec = kept.spec
        if spec.controller is not Controller.NONE:
            self._workloads[ObjectKey("", kept.namespace, spec.name)] = (spec.name,)
        self._world.factory.create(spec, name=name, node=spec.node)

    def unmake(self, uid: PodUid, *, force: bool, grace: Duration, replaced: bool) -> None:
        """Delete a pod; one that is not to be replaced is let go by its controller."""
        pod = self._world.api.pod(uid)
        if pod is None:
            return
        self._told(NO_NODE, PodUnwanted(uid, force, grace, replaced))
        controller = pod.spec.controller if replaced else Controller.NONE
        pod.spec = replace(pod.spec, termination_grace=grace, controller=controller)
        if force:
            self._world.api.remove(uid)
        else:
            self._deleted_at[uid] = self._world.now
            self._world.api.mark_deleting(pod)

    def require(self, keys: Sequence[ObjectKey]) -> None:
        """Make sure that all these objects are there.

        Raises:
            ObjectNotFoundError: One is not.
        """
        for key in keys:
            if key.resource == POD:
                self.found(key.namespace, key.name)
            elif key not in self._workloads:
                there = [
                    each.name
                    for each in self._workloads
                    if (each.resource, each.namespace) == (key.resource, key.namespace)
                ]
                message = (
                    f'{key.resource} "{key.name}" not found{within(key.namespace)}; {known(there)}'
                )
                raise ObjectNotFoundError(message)

    def delete_object(self, key: ObjectKey, *, force: bool, grace_s: int | None) -> list[ApiPod]:
        """Delete a pod, or a workload with its pods, and return the pods."""
        if key.resource != POD:
            return self._delete_workload(key, force=force, grace_s=grace_s)
        pod = self.find(key.namespace, key.name)
        if pod is None:
            return []
        self.delete(pod, force=force, grace_s=grace_s)
        return [pod]

    def _delete_workload(self, key: ObjectKey, *, force: bool, grace_s: int | None) -> list[ApiPod]:
        names = self._workloads.pop(key, ())
        with self.notes.together():
            self._contents.pop(key, None)
            self.notes.workload_gone(key)
            pods = [
                pod
                for pod in self.all()
                if pod.pod.namespace == key.namespace and pod.spec.name in names
            ]
            for pod in pods:
                pod.spec = replace(pod.spec, controller=Controller.NONE)
                self.delete(pod, force=force, grace_s=grace_s)
        return pods

    def _is_there(self, applied: Applied) -> bool:
        if applied.key.resource != POD:
            return applied.key in self._workloads
        return self.find(applied.key.namespace, applied.key.name) is not None

    def _compare(self, applied: Applied, content: str) -> None:
        if applied.content != content:
            reason = (
                f"{applied.key} is there already with another manifest, and what is there cannot "
                f"be changed; delete it first: rebind delete {applied.key.resource.split('.')[0]} "
                f"{applied.key.name}"
            )
            raise ObjectConflictError(str(applied.fault(reason)))

    def _check(self, applied: Applied, names: set[tuple[str, str]]) -> None:
        for template in applied.templates:
            spec = template.spec
            name = (spec.pod.namespace, spec.name)
            own = spec.controller is Controller.NONE
            if name in names or (own and self.find(*name) is not None):
                reason = f'{applied.key} makes a pod "{spec.name}", which is there already'
                raise ObjectConflictError(str(applied.fault(reason)))
            names.add(name)
            if spec.node is not None and spec.node not in self._world.nodes:
                there = known(list(self._world.nodes))
                reason = f'{applied.key} wants the node "{spec.node}", which is not here; {there}'
                raise applied.fault(reason)

    def _create(self, template: Template) -> None:
        spec = template.spec
        self._manifests[spec.pod.namespace, spec.name] = template.manifest
        name = self._free_name(spec.pod.namespace, spec.name)
        wanted = ApiPod(spec, spec.pod, spec.node)
        self._told(NO_NODE, PodWanted(name, pod_text(wanted, template.manifest)))
        self._world.factory.create(spec, name=name, node=spec.node)

    def _free_name(self, namespace: str, name: str) -> str:
        """Return a name that no pod has; one of an earlier workload or server may have `name`."""
        free, number = name, 1
        while self.find(namespace, free) is not None:
            number += 1
            free = f"{name}-r{number}"
        return free

    def _changed(self, pod: ApiPod) -> None:
        uid = pod.uid
        if uid not in self._identities:
            self._identities[uid] = PodIdentity(uid, pod.pod.namespace, pod.pod.name)
            if len(self._identities) > IDENTITIES_MAX:
                del self._identities[next(iter(self._identities))]
        self.notes.pod(pod)
        name = (pod.pod.namespace, pod.pod.name)
        if not pod.deleted:
            self._by_name[name] = pod
        elif self._by_name.get(name) is pod:
            del self._by_name[name]
        if pod.deleted:
            if pod.spec.controller is Controller.NONE:
                self._contents.pop(ObjectKey(POD, pod.pod.namespace, pod.pod.name), None)
        elif pod.spec.controller is not Controller.NONE and not self._is_wanted(pod):
            grace = pod.spec.termination_grace
            self.unmake(uid, force=True, grace=grace, replaced=False)

    def _forget_manifests(self, gone: ApiPod) -> None:
        """Forget now and then what nobody is made of any more."""
        self._gone[gone.pod.namespace, gone.spec.name] = None
        if len(self._gone) <= self._gone_max:
            return
        used = {(pod.pod.namespace, pod.spec.name) for pod in self.all()}
        used |= {(key.namespace, name) for key, names in self._workloads.items() for name in names}
        for name in self._gone:
            if name not in used:
                self._manifests.pop(name, None)
        self._gone.clear()

    def _is_wanted(self, pod: ApiPod) -> bool:
        """Tell whether a pod's workload is still there; its controller may be late to know."""
        return any(
            key.namespace == pod.pod.namespace and pod.spec.name in names
            for key, names in self._workloads.items()
        )
