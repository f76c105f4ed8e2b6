"""Says what a server refuses to nodes, without saying it again for each of their requests."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from simulator.core.api_calls import ApiRefused, ApiUnavailable, RemoveDeviceBinding
from simulator.core.transitions import NodeName
from simulator.engine.api_requests import ApiRequest, CreateEvent, RequestReply, name_of

_LOG: Final = logging.getLogger(__name__)

AGAIN_AFTER_S: Final = 60.0
"""So long nothing more is said of refusals of one kind."""
_CONFLICT: Final = 409
_NOT_FOUND: Final = 404
_UNAVAILABLE: Final = 503


class Complaints:
    """Logs refusals: of each kind of request, and for each cause, one in a minute.

    A kubelet asks again and again, and there may be many nodes. It is usual, and not told, that
    something was changed meanwhile, or has gone.
    """

    def __init__(self) -> None:
        self._said_at: dict[tuple[str, int], float] = {}

    def heard(self, node: NodeName, request: ApiRequest, reply: RequestReply) -> None:
        """Take note of what was answered to a request of a node."""
        if isinstance(reply, ApiUnavailable):
            code = _UNAVAILABLE
        elif isinstance(reply, ApiRefused) and not _is_usual(request, reply):
            code = reply.code
        else:
            return
        self.say(f"{name_of(request)} of the node {node}", code, reply.message, name_of(request))

    def say(self, what: str, code: int, why: str, kind: str = "") -> None:
        """Say that something is refused, unless it was said within the last minute.

        Args:
            what: What is refused.
            code: The HTTP status.
            why: The server's text.
            kind: What is said once for all of its kind; `what` itself where it is empty.
        """
        now = asyncio.get_running_loop().time()
        key = (kind or what, code)
        said_at = self._said_at.get(key)
        if said_at is None or now - said_at >= AGAIN_AFTER_S:
            self._said_at[key] = now
            _LOG.warning("the API server refuses %s: %s", what, why)


def _is_usual(request: ApiRequest, reply: ApiRefused) -> bool:
    may_have_gone = isinstance(request, RemoveDeviceBinding | CreateEvent)
    return reply.gone or reply.code == _CONFLICT or (may_have_gone and reply.code == _NOT_FOUND)
