"""Unix sockets as files: lengths, occupants, appearance, and whose file is removed."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from pathlib import Path

import grpc.aio
import pytest

from simulator.core.instants import MILLISECOND, Duration
from simulator.errors import PluginTimeoutError, ServerError
from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import services
from simulator.wire.connections import ConnectionSettings, dial
from simulator.wire.listening import listen_at
from simulator.wire.servers import ServerLimits, UnixServer
from simulator.wire.sockets import Appearance, Occupant, make_room, occupant_of, require_room


def server_at(path: Path, resource: str = "") -> UnixServer:
    """Return a server that tells by an option whose it is."""

    async def answer(_: device_plugin.Empty) -> device_plugin.DevicePluginOptions:
        return device_plugin.DevicePluginOptions(pre_start_required=bool(resource))

    server = UnixServer(path)
    server.answer(services.GET_DEVICE_PLUGIN_OPTIONS, answer)
    return server


async def answers(path: Path) -> bool:
    """Return what the server at a path answers."""
    connection = await dial(path, ConnectionSettings())
    answer = await connection.call(services.GET_DEVICE_PLUGIN_OPTIONS, device_plugin.Empty())
    await connection.close()
    return answer.pre_start_required


def dead_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(path))


def test_a_socket_path_has_at_most_107_bytes() -> None:
    """conventions.md §4, trap 5; bytes, not letters."""
    require_room(Path("/" + "x" * 106))
    for path in (Path("/" + "x" * 107), Path("/" + "ü" * 54)):
        with pytest.raises(ServerError, match=r"at most 107 are possible"):
            require_room(path)


def test_what_is_at_a_path_is_told(folder: Path) -> None:
    (folder / "file").touch()
    (folder / "dangling").symlink_to(folder / "nowhere")
    dead_socket(folder / "dead")
    with socket.socket(socket.AF_UNIX) as living:
        living.bind(os.fspath(folder / "living"))
        living.listen()
        (folder / "link").symlink_to(folder / "living")

        found = {
            name: occupant_of(folder / name)
            for name in ("none", "file", "dangling", "dead", "living", "link")
        }

    assert found == {
        "none": Occupant.NOTHING,
        "file": Occupant.OTHER,
        "dangling": Occupant.OTHER,
        "dead": Occupant.DEAD_SOCKET,
        "living": Occupant.LIVING_SOCKET,
        "link": Occupant.LIVING_SOCKET,
    }


def test_a_listener_that_takes_nobody_more_is_alive(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as living, socket.socket(socket.AF_UNIX) as client:
        living.bind(os.fspath(folder / "full"))
        living.listen(0)
        client.connect(os.fspath(folder / "full"))

        assert occupant_of(folder / "full") is Occupant.LIVING_SOCKET


def test_what_is_no_socket_is_left_in_place(folder: Path) -> None:
    (folder / "file").write_text("mine")

    with pytest.raises(ServerError, match="exists and is no socket; remove it"):
        make_room(folder / "file")

    assert (folder / "file").read_text() == "mine"


@pytest.mark.parametrize("appearance", Appearance)
def test_the_socket_of_a_dead_server_is_replaced(folder: Path, appearance: Appearance) -> None:
    """Issue 4 D."""
    dead_socket(folder / "s.sock")

    async def story() -> None:
        server = server_at(folder / "s.sock", "mine")
        await server.start(appearance=appearance)
        assert await answers(server.path)
        await server.stop()

    asyncio.run(story())

    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("appearance", Appearance)
def test_the_socket_of_a_living_server_is_refused(folder: Path, appearance: Appearance) -> None:
    """Issue 4 D."""

    async def story() -> None:
        living, late = server_at(folder / "s.sock", "mine"), server_at(folder / "s.sock")
        await living.start()
        with pytest.raises(ServerError, match="is served by another process; stop it"):
            await late.start(appearance=appearance)
        await late.stop()
        assert await answers(living.path)
        assert living.is_reachable
        await living.stop()

    asyncio.run(story())


@pytest.mark.parametrize("appearance", Appearance)
def test_a_server_that_ends_leaves_the_socket_of_its_successor(
    folder: Path, appearance: Appearance
) -> None:
    """By itself gRPC would remove the path that it has bound, whatever is there."""

    async def story() -> None:
        old, new = server_at(folder / "s.sock"), server_at(folder / "s.sock", "new")
        await old.start(appearance=appearance)
        old.path.unlink()
        await new.start(appearance=appearance)
        assert not old.is_reachable
        await old.stop()
        assert await answers(new.path)
        await new.stop()
        await new.stop()

    asyncio.run(story())

    assert list(folder.iterdir()) == []


def test_a_socket_can_be_left_as_a_killed_process_leaves_it(folder: Path) -> None:
    async def story() -> None:
        server = server_at(folder / "s.sock")
        await server.start()
        await server.stop(keep_file=True)

    asyncio.run(story())

    assert occupant_of(folder / "s.sock") is Occupant.DEAD_SOCKET


@pytest.mark.parametrize(("mode", "bits"), [(0o600, 0o600), (None, 0o755), (0o660, 0o660)])
def test_a_socket_has_the_permissions_that_were_asked_for(
    folder: Path, mode: int | None, bits: int
) -> None:
    """Rule 13 of details.md; S8.1 for what umask leaves."""

    async def story() -> int:
        server = server_at(folder / "s.sock")
        await server.start(mode=mode)
        found = stat.S_IMODE(server.path.stat().st_mode)
        await server.stop()
        return found

    before = os.umask(0o022)
    try:
        assert asyncio.run(story()) == bits
    finally:
        os.umask(before)


def test_a_folder_that_is_not_there_is_told(folder: Path) -> None:
    async def story() -> None:
        server = server_at(folder / "none" / "s.sock")
        with pytest.raises(ServerError, match=r"no socket can be made at .*/none/s.sock: No such"):
            await server.start()
        await server.stop()

    asyncio.run(story())


def test_what_has_come_to_the_place_meanwhile_is_left_there(folder: Path) -> None:
    async def story() -> None:
        server = grpc.aio.server()
        with pytest.raises(ServerError, match=r"no socket can be made at .*/s.sock: it exists"):
            await listen_at(server, folder / "s.sock", mode=0o600, appearance=Appearance.CREATED)

    (folder / "s.sock").write_text("mine")

    asyncio.run(story())

    assert [path.name for path in folder.iterdir()] == ["s.sock"]
    assert (folder / "s.sock").read_text() == "mine"


def test_a_server_takes_no_more_connections_than_it_may(folder: Path) -> None:
    """Issue 4 D: everything is bounded."""

    async def story() -> None:
        server = UnixServer(folder / "s.sock", ServerLimits(connections_max=2))
        await server.start()
        hasty = ConnectionSettings(dial_timeout=Duration(100 * MILLISECOND))
        taken = [await dial(server.path, ConnectionSettings()) for _ in range(2)]
        with pytest.raises(PluginTimeoutError):
            await dial(server.path, hasty)
        await taken.pop().close()
        taken.append(await dial(server.path, ConnectionSettings()))
        for each in taken:
            await each.close()
        await server.stop()

    asyncio.run(story())
