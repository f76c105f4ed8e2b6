"""Replies of the API server that get lost (W6)."""

from __future__ import annotations

from collections.abc import Callable

from typing_extensions import override

from simulator.core.api_calls import ApiStored, ApiUnavailable
from simulator.core.transitions import NodeName
from simulator.engine.api_requests import ApiRequest, RenewLease, RequestReply
from simulator.engine.lossy_api import LOST, LossyApi
from simulator.engine.ports import ApiTransport
from simulator.engine.streams import RandomStreams

NODE = NodeName("n0")


class Server(ApiTransport):
    """Carries out what it is asked at once."""

    def __init__(self) -> None:
        self.asked = 0
        self.answer: RequestReply = ApiStored(1)

    @override
    def send(
        self, node: NodeName, request: ApiRequest, reply: Callable[[RequestReply], None]
    ) -> None:
        self.asked += 1
        reply(self.answer)


def asked(api: LossyApi, count: int = 200, node: NodeName = NODE) -> list[RequestReply]:
    """Return the replies to some requests."""
    found: list[RequestReply] = []
    for _ in range(count):
        api.send(node, RenewLease(node), found.append)
    return found


def test_a_share_of_the_replies_is_lost_of_requests_that_were_carried_out() -> None:
    server = Server()
    api = LossyApi(server, RandomStreams(7))
    api.share = 0.25
    lost = asked(api).count(ApiUnavailable(LOST))

    assert server.asked == 200
    assert 30 <= lost == api.lost <= 70


def test_which_are_lost_follows_from_the_seed_and_the_node_alone() -> None:
    one, same = (LossyApi(Server(), RandomStreams(7)) for _ in range(2))
    one.share = same.share = 0.5
    asked(same, 50, NodeName("n1"))

    assert asked(one) == asked(same)


def test_nothing_is_lost_without_a_share_nor_what_was_no_answer() -> None:
    server = Server()
    api = LossyApi(server, RandomStreams(7))
    assert set(map(type, asked(api))) == {ApiStored}

    api.share = 1.0
    server.answer = ApiUnavailable("gone")
    assert set(asked(api, 3)) == {ApiUnavailable("gone")}
    assert api.lost == 0
