"""What a watch of pods shows, put into the copy that the nodes follow."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final

from simulator.api.client.http import revision_of
from simulator.api.dialect.documents import Object, text
from simulator.api.dialect.pods import DEFAULT_SCHEDULER
from simulator.core.pods import PodUid
from simulator.core.transitions import NodeName
from simulator.engine.api import ApiServer
from simulator.engine.api_copy import ApiCopy
from simulator.engine.api_objects import ApiPod
from simulator.live.remote.pods import read_pod
from simulator.live.timeline import LiveTimeline

_LOG: Final = logging.getLogger(__name__)

AWAY: Final = "server away"
"""Why a node is cut off: its watch has broken off."""


class PodFollower:
    """Follows the pods of some nodes (`simulator.api.client.following.Follower`).

    Args:
        api: The copy.
        copy: Puts things into it.
        timeline: Its time.
        nodes: The nodes; they are cut off from the beginning, until the first list is there.
        sees_all: Whether it sees all pods, those on other nodes and on none too.
        shown: Told of every pod as the server shows it, and of those that have gone with None.
    """

    def __init__(  # noqa: PLR0913 - what is followed, and who is told
        self,
        api: ApiServer,
        copy: ApiCopy,
        timeline: LiveTimeline,
        nodes: Sequence[NodeName],
        *,
        sees_all: bool,
        shown: Callable[[PodUid, Object | None], None],
    ) -> None:
        self._api = api
        self._copy = copy
        self._timeline = timeline
        self._nodes = frozenset(nodes)
        self._sees_all = sees_all
        self._shown = shown
        self._why = ""
        for node in sorted(self._nodes):
            api.cut_off(node, AWAY)

    def listed(self, objects: Sequence[Object]) -> None:
        """Take over all pods there are."""

        def act() -> None:
            taken = (self._take(each, is_list=True) for each in objects)
            uids = [uid for uid in taken if uid is not None]
            self._copy.keep_only(uids, self._covers)

        self._timeline.enter(act)

    def happened(self, change: str, found: Object) -> None:
        """Take over what has become of a pod."""
        if change == "DELETED":
            uid = PodUid(text(found, "metadata", "uid"))
            self._timeline.enter(lambda: self._gone(uid, found))
        else:
            self._timeline.enter(lambda: self._saw(found))

    def lost(self, why: str) -> None:
        """Cut the nodes off."""
        if why != self._why:
            self._why = why
            _LOG.warning("%s; nodes go on by themselves, and ask again", why)

        def act() -> None:
            for node in sorted(self._nodes):
                self._api.cut_off(node, AWAY)

        self._timeline.enter(act)

    def restored(self) -> None:
        """Let the nodes hear of what happens."""
        self._why = ""

        def act() -> None:
            for node in sorted(self._nodes):
                self._api.restore(node, AWAY)

        self._timeline.enter(act)

    def _covers(self, pod: ApiPod) -> bool:
        return self._sees_all or pod.node in self._nodes

    def _saw(self, found: Object) -> None:
        self._take(found, is_list=False)

    def _take(self, found: Object, *, is_list: bool) -> PodUid | None:
        if _is_for_another_scheduler(found):
            return None
        try:
            seen = read_pod(found)
        except ValueError as error:
            name = text(found, "metadata", "name")
            _LOG.warning("the pod %s cannot be read, and is left alone: %s", name, error)
            return None
        self._shown(seen.pod.uid, found)
        self._copy.saw(seen, is_list=is_list)
        return seen.pod.uid

    def _gone(self, uid: PodUid, found: Object) -> None:
        self._copy.gone(uid, revision_of(found))
        self._shown(uid, None)


def _is_for_another_scheduler(pod: Object) -> bool:
    """Tell whether a pod on no node waits for a scheduler whose place Rebind does not take."""
    scheduler = text(pod, "spec", "schedulerName")
    return not text(pod, "spec", "nodeName") and scheduler not in {"", DEFAULT_SCHEDULER}
