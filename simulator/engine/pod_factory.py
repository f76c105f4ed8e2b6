"""Makes pods from their specs: identity, name, creation time."""

from __future__ import annotations

from dataclasses import replace

from simulator.core.pods import PodUid
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiPod, ApiServer
from simulator.engine.spec import PodSpec
from simulator.engine.streams import RandomStreams
from simulator.engine.timeline import Timeline


class PodFactory:
    """Creates pods in the API; uids depend on seed, name and ordinal alone."""

    def __init__(self, timeline: Timeline, api: ApiServer, streams: RandomStreams) -> None:
        self._timeline = timeline
        self._api = api
        self._streams = streams
        self._made: dict[str, int] = {}

    def create(
        self, spec: PodSpec, *, name: str, node: NodeName | None, uid: PodUid | None = None
    ) -> ApiPod:
        """Create a pod called `name`, bound to `node` or left to the scheduler.

        Args:
            spec: What it is made from.
            name: Its name.
            node: Where it is bound.
            uid: Its uid; None for one that follows from the seed.
        """
        made = self._made[name] = self._made.get(name, 0) + 1
        pod = replace(
            spec.pod,
            uid=uid or PodUid(uuid_text(self._streams.number(f"pod/{name}/{made}"))),
            name=name,
            created=self._timeline.now(),
        )
        api_pod = ApiPod(spec, pod, node)
        self._api.create(api_pod)
        return api_pod


def uuid_text(number: int) -> str:
    """Write a 128-bit number in the form of a UUID."""
    digits = f"{number:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
