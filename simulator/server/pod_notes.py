"""What a journal is told of the pods and workloads of a server, where there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

from scenarios.files.documents import Plain
from simulator.core.pods import PodUid
from simulator.engine.api_objects import ApiPod
from simulator.server.journal import Journal
from simulator.server.kept import Kept, KeptWorkload, workload_key
from simulator.server.manifests import ObjectKey


class PodNotes:
    """Notes about the pods of one server, over its restarts.

    Args:
        manifest_of: Returns what a pod was made from.
    """

    def __init__(self, manifest_of: Callable[[ApiPod], Mapping[str, Plain]]) -> None:
        self._manifest_of = manifest_of
        self._journal: Journal | None = None
        self._written: set[PodUid] = set()

    def keep(self, journal: Journal, kept: Kept) -> None:
        """Write from now on to a journal, which says what was there before."""
        journal.begin(kept)
        self._journal = journal
        self._written.update(kept.pods)

    async def made_durable(self) -> None:
        """Wait until no power cut takes what was written so far.

        Raises:
            ServerError: That cannot be had.
        """
        if self._journal is not None:
            await asyncio.to_thread(self._journal.sync)

    def together(self) -> AbstractContextManager[None]:
        """Let what is noted meanwhile be kept as a whole, or not at all."""
        return nullcontext() if self._journal is None else self._journal.together()

    def pod(self, pod: ApiPod) -> None:
        """Note what has become of a pod."""
        journal, uid = self._journal, pod.uid
        if journal is None:
            return
        if pod.deleted:
            self._written.discard(uid)
            journal.gone(uid)
        elif uid in self._written:
            journal.changed(pod)
        else:
            self._written.add(uid)
            journal.pod(pod, self._manifest_of(pod))

    def workload(self, key: ObjectKey, content: str, names: tuple[str, ...]) -> None:
        """Note a workload that is there, and the names of its pods."""
        if self._journal is not None:
            kept = KeptWorkload(key.resource, key.namespace, key.name, content, names)
            self._journal.workload(kept)

    def workload_gone(self, key: ObjectKey) -> None:
        """Note a workload that is there no more."""
        if self._journal is not None:
            self._journal.workload_gone(workload_key(key.namespace, key.resource, key.name))
