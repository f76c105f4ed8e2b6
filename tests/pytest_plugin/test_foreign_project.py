"""The pytest plugin in somebody else's project: its documentation, and that it disturbs nothing."""

from __future__ import annotations

from pathlib import Path

from tests.pytest_plugin.foreign import Project, documented

FOREIGN_API = '''
    """Their own generated code of the same API, loaded as theirs is."""

    from google.protobuf import descriptor_pb2, descriptor_pool

    file = descriptor_pb2.FileDescriptorProto(
        name="api.proto", package="v1beta1", syntax="proto3"
    )
    file.message_type.add(name="Device").field.add(name="ID", number=1, type=9, label=1)
    file.message_type.add(name="Empty")
    file.service.add(name="DevicePlugin")
    descriptor_pool.Default().Add(file)
    descriptor_pool.Default().FindMessageTypeByName("v1beta1.Device")
'''


def test_the_documented_example_works_in_a_project_with_folders_of_our_names(
    tmp_path: Path,
) -> None:
    """Details 10: folders named `plugins`, `store` and `tests` do no harm; nor does xdist."""
    project = Project(tmp_path)
    project.write("foreign_api.py", FOREIGN_API)
    project.write("test_plugin.py", "import foreign_api\n" + documented())
    outcome = project.run("-n", "2")

    assert outcome.code == 0, outcome.output
    assert "6 passed" in outcome.output


def test_a_folder_that_shadows_a_package_is_named_with_it(tmp_path: Path) -> None:
    project = Project(tmp_path, packages=("store",))
    project.write("test_plugin.py", "def test_it(kubelet): ...\n\ndef test_other(): ...\n")
    outcome = project.run()

    assert outcome.code == 1
    assert "1 passed, 1 error" in outcome.output
    assert f"the folder {tmp_path / 'store'} shadows Rebind's package `store`" in outcome.output


def test_a_failure_shows_the_line_of_the_test_and_what_was_seen(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(
        "test_plugin.py",
        """
        def test_wait(kubelet):
            kubelet.wait_registered("example.com/gpu", timeout="10ms")

        def test_refusal(kubelet):
            command = ("rebind", "plugin", "run", "faulty", "--mode", "failing-allocate")
            kubelet.run(*command, "--socket-dir", kubelet.socket_dir)
            kubelet.wait_allocatable("example.com/faulty", 4)
            kubelet.allocate("example.com/faulty")
        """,
    )
    outcome = project.run()

    assert "2 failed" in outcome.output
    assert "the registration of example.com/gpu did not happen within 0.01s" in outcome.output
    assert "PodRefusedError: pod pod-1 was refused: UnexpectedAdmissionError" in outcome.output
    places = [line.split(": ")[0] for line in outcome.output.splitlines() if ".py:" in line]
    assert places[:2] == ["tests/test_plugin.py:3", "tests/test_plugin.py:9"]
    assert all(place.startswith("FAILED ") for place in places[2:])


def test_nothing_is_loaded_for_tests_that_do_not_use_it(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(
        "test_other.py",
        """
        import sys

        def test_other():
            ours = [name for name in sys.modules if name.split(".")[0] in ("grpc", "store")]
            ours += [name for name in sys.modules if name.startswith("simulator.")]
            assert set(ours) <= {"simulator.pytest_plugin"}
        """,
    )
    outcome = project.run()

    assert outcome.code == 0, outcome.output


def test_what_cannot_be_had_is_told_in_one_line(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(
        "test_plugin.py",
        """
        import pytest

        @pytest.mark.kubelet(version="newest")
        def test_version(kubelet): ...

        @pytest.mark.kubelet(persistence="paper")
        def test_persistence(kubelet): ...

        @pytest.mark.kubelet(nodes=0)
        def test_nodes(kubelet): ...

        @pytest.mark.kubelet(node=2)
        def test_keyword(kubelet): ...

        @pytest.mark.kubelet(faults=[{"fault": "latency", "op": "alocate"}])
        def test_fault(kubelet): ...

        def test_absent(kubelet_node):
            kubelet_node("n1")
        """,
    )
    outcome = project.run("--rebind-persistence", "checkpoint")

    assert outcome.code == 1
    for line in (
        "newest",
        '"paper" is not a persistence',
        "nodes is 0, expected a number from 1 to 100",
        "the marker kubelet takes version, persistence, faults, nodes, by keyword; found node",
        "op of a fault is 'alocate'; did you mean allocate?",
        "there is no node n1; there: n0; more with @pytest.mark.kubelet(nodes=...)",
    ):
        assert line in outcome.output
    assert "Traceback" not in outcome.output


def test_options_hold_for_tests_without_a_marker_of_their_own(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(
        "test_plugin.py",
        """
        import pytest

        def has_database(kubelet):
            return (kubelet.directory.parent / "rebind.db").exists()

        def test_all(kubelet):
            assert kubelet.version == "1.20.2"
            assert not has_database(kubelet)

        @pytest.mark.kubelet(version="1.32.10", persistence="database")
        class TestNewer:
            def test_class(self, kubelet):
                assert kubelet.version == "1.32.10"
                assert has_database(kubelet)

            @pytest.mark.kubelet(version="1.27.2")
            def test_own(self, kubelet):
                assert kubelet.version == "1.27.2"
        """,
    )
    outcome = project.run("--kubelet-version", "1.20.2", "--rebind-persistence", "checkpoint")

    assert outcome.code == 0, outcome.output


def test_a_plugin_in_the_test_process_with_a_loop_of_its_own_gets_along(tmp_path: Path) -> None:
    """Both use grpc.aio, each on its loop; a failed test leaves nothing behind that warns."""
    project = Project(tmp_path)
    project.write(
        "test_plugin.py",
        """
        import asyncio

        import grpc
        import pytest

        async def echo(request, context):
            return request

        async def call(folder):
            server = grpc.aio.server()
            handler = grpc.unary_unary_rpc_method_handler(echo)
            server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler("their.Service", {"Echo": handler}),)
            )
            server.add_insecure_port(f"unix:{folder}/their.sock")
            await server.start()
            async with grpc.aio.insecure_channel(f"unix:{folder}/their.sock") as channel:
                for number in range(200):
                    assert await channel.unary_unary("/their.Service/Echo")(b"%d" % number)
            await server.stop(None)

        def test_both(kubelet):
            command = ("rebind", "plugin", "run", "fake", "--flap-period", "20ms")
            kubelet.run(*command, "--flap-illness", "10ms", "--socket-dir", kubelet.socket_dir)
            kubelet.wait_registered("example.com/gpu")
            asyncio.run(call(kubelet.socket_dir))

        @pytest.mark.xfail(strict=True)
        def test_failing(kubelet):
            kubelet.run("sleep", "60")
            kubelet.wait_allocatable("example.com/gpu", 1, timeout=0.1)
        """,
    )
    outcome = project.run()

    assert outcome.code == 0, outcome.output
    assert "1 passed, 1 xfailed" in outcome.output
