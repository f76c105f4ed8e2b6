"""Whatever is asked of a server, it answers with a clear line and goes on (issue 4, 8)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import grpc
import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.protocol import control_services as methods
from simulator.protocol import rebind_control_pb2 as control
from simulator.protocol.services import Method
from tests.logged import logged_faults
from tests.server.processes import DEADLINE_S
from tests.server.running import RUN, running_server, short_folder

METHODS: Final = tuple(
    method for method in vars(methods).values() if isinstance(method, Method) and not method.streams
)
REFUSALS: Final = {"INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION"}
MANIFEST: Final = """\
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: default
  labels: {app: a}
  annotations: {rebind.internal/termination-time: 20s}
spec:
  nodeName: n0
  restartPolicy: Never
  terminationGracePeriodSeconds: 30
  initContainers: [{name: i, restartPolicy: Always, resources: {limits: {example.com/gpu: 1}}}]
  containers: [{name: main, image: a, env: [{name: A, value: b}], resources: {limits: {cpu: 500m}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: a}}
  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: main}]}}
"""
WORDS: Final = [found.span() for found in re.finditer(r"[\w./-]+", MANIFEST)]
NONSENSE: Final = [
    "-1", "0", "99999999999999999999", "1e400", ".nan", "~", "[]", "{}", "true", r"'\0'",
    r'"\ud800"', r'"\x1b[31m"', "!!binary aGk=", "!!python/object:os.system x", "&a [*a]", "*b",
    "2001-01-01", "0x10", "'😀'", "!!set {a}", "n1", "9" * 5_000, "x" * 70_000, r'"a\nb"', "1Ei",
    "1.5", "[" * 200 + "]" * 200, "\x00", "- ", ": ", "\t", "---", "...",
]  # fmt: skip
TEXTS: Final = st.sampled_from(
    [
        "",
        "n0",
        "n9",
        "pods",
        "pod",
        "nodes",
        "events",
        "plugins",
        "a=b,!c",
        "\n\x1b[31m",
        "x" * 9_000,
    ]
) | st.text(max_size=5)
NUMBERS: Final = st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)])


@st.composite
def manifests(draw: st.DrawFn) -> bytes:
    """Return a good file with nonsense in some places, or with bytes of it changed."""
    places = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True))
    text = MANIFEST
    for start, stop in sorted(places, reverse=True):
        text = text[:start] + draw(st.sampled_from(NONSENSE)) + text[stop:]
    content = bytearray(text.encode("utf-8", "surrogatepass"))
    for at, byte in draw(
        st.dictionaries(st.integers(0, 900), st.integers(0, 255), max_size=2)
    ).items():
        content[at % len(content)] = byte
    return bytes(content)


def requests(kind: type[Message]) -> st.SearchStrategy[Message]:
    """Return requests of a kind in which every field is something, and sometimes sense."""
    values: dict[str, st.SearchStrategy[object]] = {}
    for field in kind.DESCRIPTOR.fields:
        if field.message_type is not None:
            values[field.name] = st.lists(requests(control.ObjectName), max_size=2)
        elif field.type == field.TYPE_STRING:
            values[field.name] = st.lists(TEXTS, max_size=2) if field.is_repeated else TEXTS
        elif field.type == field.TYPE_BYTES:
            values[field.name] = manifests()
        elif field.type == field.TYPE_BOOL:
            values[field.name] = st.booleans()
        else:
            values[field.name] = NUMBERS
    return st.fixed_dictionaries(values).map(lambda chosen: kind(**chosen))


REQUESTS: Final = st.one_of(
    st.tuples(st.sampled_from([method.path for method in METHODS]), st.binary(max_size=40)),
    *[
        st.tuples(
            st.just(method.path),
            requests(method.request).map(lambda each: each.SerializeToString()),
        )
        for method in (*METHODS, methods.APPLY, methods.APPLY)
    ],
)


def call(channel: grpc.Channel, path: str, content: bytes) -> bytes:
    """Make a call with these bytes."""
    method: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(path)
    return method(content, timeout=DEADLINE_S)


class Hostile:
    """A client of one server that asks for anything."""

    def __init__(self, channel: grpc.Channel, faults: list[str]) -> None:
        self._channel = channel
        self._faults = faults

    def ask(self, path: str, content: bytes) -> tuple[str, str]:
        """Ask, and return the status and its text; the server has logged no traceback."""
        try:
            call(self._channel, path, content)
        except grpc.RpcError as error:
            answer = error.code().name, error.details() or ""
        else:
            answer = "OK", ""
        assert self._faults == [], content
        return answer


@pytest.fixture(scope="module")
def hostile() -> Iterator[Hostile]:
    with (
        logged_faults() as faults,
        short_folder() as root,
        running_server(root) as socket,
        grpc.insecure_channel(f"unix:{socket}") as channel,
    ):
        yield Hostile(channel, faults)
        assert hostile_is_answered(channel)


def hostile_is_answered(channel: grpc.Channel) -> bool:
    """Tell whether the server still answers."""
    asked = control.GetRequest(kind="nodes").SerializeToString()
    answer = control.GetResponse.FromString(call(channel, methods.GET.path, asked))
    return len(answer.objects) == len(RUN.nodes)


@settings(max_examples=300)
@given(REQUESTS)
def test_any_request_is_answered_or_refused(hostile: Hostile, asked: tuple[str, bytes]) -> None:
    status, text = hostile.ask(*asked)

    assert (status == "OK" and text == "") or (status in REFUSALS and text != "")


@pytest.mark.soak
@settings(max_examples=20_000)
@given(REQUESTS)
def test_20_000_requests_are_answered_or_refused(
    hostile: Hostile, asked: tuple[str, bytes]
) -> None:
    status, text = hostile.ask(*asked)

    assert (status == "OK" and text == "") or (status in REFUSALS and text != "")


def test_a_refusal_of_something_very_long_is_shortened(hostile: Hostile) -> None:
    """The texts of errors travel in a header, which may have 8 KiB."""
    pod = (
        f"{{kind: Pod, metadata: {{name: a}}, spec: {{nodeName: {'é' * 70_000}, containers: []}}}}"
    )
    manifest = (
        pod.replace("[]", "[{name: main}]").replace("{kind", "{apiVersion: v1, kind").encode()
    )
    request = control.ApplyRequest(manifest=manifest, name="pod.yaml").SerializeToString()
    status, text = hostile.ask(methods.APPLY.path, request)

    assert status == "INVALID_ARGUMENT"
    assert text.startswith('pod.yaml:1:1: pod/a wants the node "éé')
    assert text.endswith("éé …")


def test_a_namespace_that_can_be_none_is_refused(hostile: Hostile) -> None:
    manifest = b"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: A.b}}"
    request = control.ApplyRequest(manifest=manifest, name="pod.yaml").SerializeToString()

    assert hostile.ask(methods.APPLY.path, request) == (
        "INVALID_ARGUMENT",
        'pod.yaml:1:60: metadata.namespace: Invalid value: "A.b": must be a DNS-1123 label',
    )
