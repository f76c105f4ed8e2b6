"""A way to the API server on which replies get lost: what was asked is done, and nobody knows (W6).

As where a connection breaks before the answer comes. Whoever has asked does not know what became of
it, and asks again with the same content.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from typing_extensions import override

from simulator.core.api_calls import ApiUnavailable
from simulator.core.transitions import NodeName
from simulator.engine.api_requests import ApiRequest, RequestReply
from simulator.engine.ports import ApiTransport
from simulator.engine.streams import RandomStreams

LOST: Final = "the connection to the API server broke before it answered"


class LossyApi(ApiTransport):
    """A transport around another one.

    Args:
        inner: The other one.
        streams: Which replies get lost; each node has a stream of its own.

    Attributes:
        share: Of the replies, 0 to 1; may be changed at any time.
        lost: How many got lost so far.
    """

    def __init__(self, inner: ApiTransport, streams: RandomStreams) -> None:
        self.share = 0.0
        self.lost = 0
        self._inner = inner
        self._streams = streams

    @override
    def send(
        self, node: NodeName, request: ApiRequest, reply: Callable[[RequestReply], None]
    ) -> None:
        """Send a request, whose reply may get lost."""
        answered = partial(self._answered, node, reply) if self.share else reply
        self._inner.send(node, request, answered)

    def _answered(
        self, node: NodeName, reply: Callable[[RequestReply], None], answer: RequestReply
    ) -> None:
        chance = self._streams.stream(f"lost-replies/{node}")
        if not isinstance(answer, ApiUnavailable) and chance.random() < self.share:
            self.lost += 1
            answer = ApiUnavailable(LOST)
        reply(answer)
