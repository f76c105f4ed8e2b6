"""Whatever a client sends, within our OpenAPI document or beside it, is no fault of the server."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.api.serving.limits import Limits
from tests.api.fuzzing.requests import Operation, Request, operations, requests
from tests.api.serving.running import Api, running_api

INTERNAL = 500


class Fuzzed:
    """A server, its operations, and one connection to it."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.connection = api.connect()
        self.operations: list[Operation] = []
        for item in api.get("/openapi/v3")["paths"].values():
            self.operations += operations(api.get(item["serverRelativeURL"]))

    def send(self, request: Request) -> tuple[int, bytes]:
        try:
            self.connection.request(
                request.method, request.target, request.body, dict(request.headers)
            )
            response = self.connection.getresponse()
            return response.status, response.read()
        except http.client.HTTPException:
            self.connection.close()
            raise


@pytest.fixture(scope="module")
def fuzzed() -> Iterator[Fuzzed]:
    with running_api(limits=Limits(watch_seconds=0.01)) as api:
        found = Fuzzed(api)
        yield found
        found.connection.close()


def test_the_document_has_operations_of_every_kind_and_verb(fuzzed: Fuzzed) -> None:
    found = {(each.method, each.path.rpartition("/")[2]) for each in fuzzed.operations}

    for plural in ("pods", "nodes", "events", "leases", "devicebindings"):
        assert {("GET", plural), ("POST", plural), ("DELETE", plural)} <= found
    assert {method for method, name in found if name == "{name}"} == {
        *("GET", "PUT", "PATCH", "DELETE")
    }
    assert ("POST", "resourcebinding") in found
    assert ("PATCH", "status") in found


def check(fuzzed: Fuzzed, drawn: list[Request]) -> None:
    for request in drawn:
        code, content = fuzzed.send(request)
        if code == 504:
            cause = json.loads(content)["details"]["causes"][0]
            assert cause["reason"] == "ResourceVersionTooLarge"
        else:
            assert code < INTERNAL, (request, content)


KEPT = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@KEPT
@given(st.data())
def test_no_request_is_answered_with_a_fault_of_the_server(
    fuzzed: Fuzzed, data: st.DataObject
) -> None:
    check(fuzzed, data.draw(st.lists(requests(fuzzed.operations), min_size=1, max_size=4)))


@pytest.mark.soak
@settings(KEPT, max_examples=5_000)
@given(st.data())
def test_no_request_of_very_many_is_answered_with_a_fault_of_the_server(
    fuzzed: Fuzzed, data: st.DataObject
) -> None:
    check(fuzzed, data.draw(st.lists(requests(fuzzed.operations), min_size=1, max_size=4)))
