"""Makes pods from their specs: identity, name, creation time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from simulator.core.pods import PodUid
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.api_objects import ApiPod
from simulator.engine.spec import PodSpec
from simulator.engine.streams import RandomStreams
from simulator.engine.timeline import Timeline


class PodFactory:
    """Creates pods in the API; uids depend on seed, name and ordinal alone.

    Attributes:
        new_uid: Returns the uid of a new pod of a name, in place of those; None for those.
        free_name: Returns the name that a pod of this namespace and name gets, as another one where
            that is taken.
    """

    def __init__(self, timeline: Timeline, api: ApiServer, streams: RandomStreams) -> None:
        self.new_uid: Callable[[str], PodUid] | None = None
        self.free_name: Callable[[str, str], str] = lambda _, name: name
        self._timeline = timeline
        self._api = api
        self._streams = streams
        self._made: dict[str, int] = {}
        self._made_of_forgotten = 0

    def forget(self, name: str) -> None:
        """Forget a name; should it come back, its pods have other uids than those that it had."""
        self._made_of_forgotten = max(self._made_of_forgotten, self._made.pop(name, 0))

    def create(self, spec: PodSpec, *, name: str, node: NodeName | None) -> ApiPod:
        """Create a pod called `name`, bound to `node` or left to the scheduler."""
        name = self.free_name(spec.pod.namespace, name)
        pod = replace(
            spec.pod,
            uid=self._uid(name),
            name=name,
            created=self._timeline.now(),
            static=spec.static,
        )
        api_pod = ApiPod(spec, pod, node)
        self._api.create(api_pod)
        return api_pod

    def _uid(self, name: str) -> PodUid:
        if self.new_uid is not None:
            return self.new_uid(name)
        made = self._made[name] = self._made.get(name, self._made_of_forgotten) + 1
        return PodUid(uuid_text(self._streams.number(f"pod/{name}/{made}")))


def uuid_text(number: int) -> str:
    """Write a 128-bit number in the form of a UUID."""
    digits = f"{number:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
