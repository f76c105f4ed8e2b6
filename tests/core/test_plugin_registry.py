"""The plugin watcher's desired and actual state (S1.31 to S1.36; upstream-tests.md 6)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from simulator.core.instants import MILLISECOND, SECOND, Instant
from simulator.core.plugin_registry import (
    Announced,
    PluginRegistry,
    Register,
    SocketPath,
    Unregister,
    failure_of,
    refusal_of,
)

A = SocketPath("/registry/a.sock")
B = SocketPath("/registry/b.sock")
GPU = Announced("DevicePlugin", "example.com/gpu", "/registry/a.sock", ("v1beta1",))
START = Instant(0)


def at(milliseconds: int) -> Instant:
    return Instant(milliseconds * MILLISECOND)


def register(registry: PluginRegistry, now: Instant = START) -> None:
    """Do every registration that is due, with success."""
    for operation in registry.reconcile(now):
        assert isinstance(operation, Register)
        registry.record(operation, GPU)
        registry.end(operation, now, failed=False)


def states(registry: PluginRegistry) -> list[tuple[str, str]]:
    return [(path[-6], state.partition("_")[0]) for path, state in registry.totals()]


def test_an_empty_path_is_refused() -> None:
    """Test_DSW_AddOrUpdatePlugin_Negative_PluginMissingInfo."""
    with pytest.raises(ValueError, match=r"^socket path is empty$"):
        PluginRegistry(retried=True).socket_made(SocketPath(""), START)


def test_nothing_is_done_where_nothing_is_wanted() -> None:
    """Test_Run_Positive_DoNothing."""
    assert PluginRegistry(retried=True).reconcile(START) == ()


def test_what_is_wanted_is_registered_and_then_left_alone() -> None:
    """Test_Run_Positive_Register."""
    registry = PluginRegistry(retried=True)
    socket = registry.socket_made(A, START)
    assert registry.reconcile(START) == (Register(socket),)

    registry.record(Register(socket), GPU)
    registry.end(Register(socket), START, failed=False)
    assert registry.reconcile(at(1000)) == ()
    assert registry.is_registered(socket)
    assert states(registry) == [("a", "desired"), ("a", "actual")]


def test_a_socket_that_comes_and_goes_is_one_entry_and_none() -> None:
    """TestPluginRegistration: ten times."""
    registry = PluginRegistry(retried=True)
    for number in range(10):
        registry.socket_made(A, at(number))
        assert states(registry) == [("a", "desired")]
        registry.socket_removed(A)
        assert states(registry) == []


def test_what_is_not_wanted_any_more_is_unregistered() -> None:
    """Test_Run_Positive_RegisterThenUnregister."""
    registry = PluginRegistry(retried=True)
    registry.socket_made(A, START)
    register(registry)
    registry.socket_removed(A)
    registry.socket_removed(B)

    [operation] = registry.reconcile(at(1000))
    assert isinstance(operation, Unregister)
    assert operation.registered.plugin == GPU
    registry.unrecord(operation)
    registry.end(operation, at(1000), failed=False)
    assert registry.totals() == []
    assert registry.reconcile(at(2000)) == ()


def test_a_socket_made_anew_is_unregistered_first_and_registered_in_a_later_pass() -> None:
    """Test_Run_Positive_ReRegister: one operation for a socket at a time."""
    registry = PluginRegistry(retried=True)
    old = registry.socket_made(A, START)
    register(registry)
    new = registry.socket_made(A, at(10))
    assert (new.uuid != old.uuid, new.seen) == (True, at(10))
    assert not registry.is_registered(new)

    [first] = registry.reconcile(at(1000))
    assert isinstance(first, Unregister)
    assert registry.reconcile(at(1500)) == ()
    registry.unrecord(first)
    registry.end(first, at(1500), failed=False)
    assert registry.reconcile(at(2000)) == (Register(new),)


def test_ten_sockets_of_one_plugin_name_are_ten_entries() -> None:
    """TestPluginRegistrationSameName: keyed by path."""
    registry = PluginRegistry(retried=True)
    for number in range(10):
        registry.socket_made(SocketPath(f"/registry/{number}.sock"), START)

    assert len(registry.wanted()) == 10
    assert len(registry.reconcile(START)) == 10


def test_one_path_made_ten_times_is_one_entry_with_the_newest_time() -> None:
    """TestPluginReRegistration."""
    registry = PluginRegistry(retried=True)
    uuids = {registry.socket_made(A, at(number)).uuid for number in range(10)}

    assert len(uuids) == 10
    assert [socket.seen for socket in registry.wanted()] == [at(9)]


def test_operations_on_different_sockets_do_not_wait_for_each_other() -> None:
    """TestOperationExecutor_..._ConcurrentRegisterPlugin, ..._SerialRegisterPlugin."""
    registry = PluginRegistry(retried=True)
    first = registry.socket_made(A, START)
    assert registry.reconcile(START) == (Register(first),)
    second = registry.socket_made(B, START)

    assert registry.reconcile(at(1000)) == (Register(second),)


@pytest.mark.parametrize("span", [123_000, 245_000])
def test_a_success_or_a_long_absence_ends_the_rests_of_a_socket(span: int) -> None:
    """S1.35; a path that nobody uses any more is forgotten."""
    registry = PluginRegistry(retried=True)
    socket = registry.socket_made(A, START)
    registry.reconcile(START)
    registry.end(Register(socket), START, failed=True)
    registry.reconcile(at(500))
    if span == 123_000:
        registry.end(Register(socket), at(500), failed=False)
    else:
        registry.end(Register(socket), at(500), failed=True)
        registry.socket_removed(A)
        assert registry.reconcile(at(span)) == ()
    again = registry.socket_made(A, at(span))

    assert registry.reconcile(at(span)) == (Register(again),)
    registry.end(Register(again), at(span), failed=True)
    assert registry.reconcile(at(span + 499)) == ()
    assert registry.reconcile(at(span + 500)) == (Register(again),)


def test_the_rests_of_a_socket_that_keeps_failing() -> None:
    """S1.35."""
    registry = PluginRegistry(retried=True)
    socket = registry.socket_made(A, START)
    now, tried = START, []
    for _ in range(11):
        while not registry.reconcile(now):
            now = Instant(now + 500 * MILLISECOND)
        tried.append(now / SECOND)
        registry.end(Register(socket), now, failed=True)

    gaps = [later - earlier for earlier, later in pairwise(tried)]
    assert gaps == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 122.0, 122.0]


@pytest.mark.parametrize("retried", [True, False])
def test_a_plugin_that_its_handler_refused_is_tried_again_from_1_36_on(*, retried: bool) -> None:
    """S1.35, PR 133335, issue 127457."""
    registry = PluginRegistry(retried=retried)
    socket = registry.socket_made(A, START)
    [operation] = registry.reconcile(START)
    assert operation == Register(socket)
    registry.record(operation, GPU)
    registry.registration_failed(operation)
    registry.end(operation, START, failed=True)

    assert registry.is_registered(socket) is not retried
    assert registry.reconcile(at(1000)) == ((Register(socket),) if retried else ())


@pytest.mark.parametrize(
    ("plugin", "text"),
    [
        (GPU, ""),
        (
            Announced("DevicePlugin", "example.com/gpu", "", ("v1alpha", "v1")),
            (
                "RegisterPlugin error -- plugin validation failed with err: manager version, "
                "v1beta1, is not among plugin supported versions [v1alpha v1]"
            ),
        ),
        (
            Announced("DevicePlugin", "gpu", "", ("v1alpha", "v1beta1")),
            (
                "RegisterPlugin error -- plugin validation failed with err: invalid name of device "
                'plugin socket: the ResourceName "gpu" is invalid'
            ),
        ),
        (
            Announced("CSIPlugin", "csi.example.com", "", ("1.0.0",)),
            (
                "RegisterPlugin error -- no handler registered for plugin type: CSIPlugin "
                "at socket /registry/a.sock"
            ),
        ),
    ],
)
def test_what_a_plugin_that_cannot_be_registered_is_told(plugin: Announced, text: str) -> None:
    """S1.34."""
    assert refusal_of(plugin, A) == text


def test_what_a_plugin_is_told_whose_registration_fails() -> None:
    """S1.34."""
    assert failure_of("failed to dial") == (
        "RegisterPlugin error -- plugin registration failed with err: failed to dial"
    )
