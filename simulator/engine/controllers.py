"""Who replaces a pod that ends: a ReplicaSet of one replica, or a Job of one completion (S5.11).

A ReplicaSet replaces a pod that failed, succeeded or was deleted, each time after the same delay
and without end (R11); a Job replaces one that failed or was deleted, with a growing delay and no
more often than its back-off limit allows. Pods that ended stay in the API until somebody deletes
them (R12).
"""

from __future__ import annotations

from typing import Final

from simulator.core.instants import MINUTE, SECOND, Duration
from simulator.core.pods import PodUid
from simulator.engine.api import ApiServer
from simulator.engine.api_objects import SUCCEEDED, ApiPod
from simulator.engine.pod_factory import PodFactory
from simulator.engine.spec import Controller, PodSpec
from simulator.engine.timeline import Timeline

JOB_BACK_OFF: Final = Duration(10 * SECOND)
JOB_BACK_OFF_MAX: Final = Duration(6 * MINUTE)
JOB_BACK_OFF_LIMIT: Final = 6
"""Defaults of the Job controller."""


class Controllers:
    """All controllers of a cluster; each looks after the pods made from its spec."""

    def __init__(self, timeline: Timeline, api: ApiServer, factory: PodFactory) -> None:
        self._timeline = timeline
        self._api = api
        self._factory = factory
        self._replaced: set[PodUid] = set()
        self._replacements: dict[str, int] = {}
        self._failures: dict[str, int] = {}
        api.watch_pods(self._pod_changed)

    def _pod_changed(self, pod: ApiPod) -> None:
        spec = pod.spec
        ended = pod.deleted or pod.status.is_terminal
        if spec.controller is Controller.NONE or not ended:
            return
        replaced = pod.uid in self._replaced
        if pod.deleted:
            self._replaced.discard(pod.uid)  # There is no more news of it.
        else:
            self._replaced.add(pod.uid)
        if replaced:
            return
        delay = spec.replace_after
        if spec.controller is Controller.JOB:
            if pod.status.phase == SUCCEEDED:
                return
            failures = self._failures.get(spec.name, 0)
            if failures >= JOB_BACK_OFF_LIMIT:
                return
            self._failures[spec.name] = failures + 1
            delay = Duration(min(JOB_BACK_OFF << failures, JOB_BACK_OFF_MAX))
        self._timeline.call_after(delay, lambda: self._replace(spec))

    def _replace(self, spec: PodSpec) -> None:
        number = self._replacements[spec.name] = self._replacements.get(spec.name, 0) + 1
        self._factory.create(spec, name=f"{spec.name}-{number}", node=None)
