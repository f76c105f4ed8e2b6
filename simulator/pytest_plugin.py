"""The pytest plugin `rebind`: a live kubelet for the tests of a device plugin.

A test that takes the fixture `kubelet` gets a node of its own, with real sockets in a short
temporary folder; what else it does is up to the test. Nothing is loaded for tests that do not.
This is a whole test, with a plugin of Rebind's in the place of yours:

    import pytest

    RESOURCE = "example.com/gpu"

    @pytest.fixture
    def plugin(kubelet):
        # One that has the kubelet's path built in is run with in_namespace=True.
        command = ("rebind", "plugin", "run", "fake", "--count", "4")
        process = kubelet.run(*command, "--socket-dir", kubelet.socket_dir)
        kubelet.wait_allocatable(RESOURCE, 4)
        return process

    def test_containers_get_devices(kubelet, plugin):
        container = kubelet.allocate(RESOURCE, 2)
        assert container.envs["EXAMPLE_COM_GPU"] == "gpu-0,gpu-1"
        assert [node.host_path for node in container.device_nodes] == ["/dev/gpu-0", "/dev/gpu-1"]
        [pod] = kubelet.pod_resources()  # as a monitoring agent sees it
        assert [entry.ids for entry in pod.containers[0].devices] == [("gpu-0",), ("gpu-1",)]
        kubelet.delete(container)

    def test_the_plugin_survives_a_kubelet_restart(kubelet, plugin):
        kubelet.restart(down="200ms")
        kubelet.wait_registered(RESOURCE)
        kubelet.allocate(RESOURCE)

    def test_the_plugin_comes_back_when_its_stream_breaks(kubelet, plugin):
        kubelet.break_stream()
        kubelet.wait_registered(RESOURCE)

    @pytest.mark.kubelet(version="1.27.2", persistence="checkpoint")
    def test_a_resource_is_dropped_after_five_minutes(kubelet, plugin):
        plugin.terminate()
        kubelet.wait_allocatable(RESOURCE, 0)
        assert kubelet.capacity == {RESOURCE: 4}
        kubelet.advance("5m1s")  # nobody waits for it
        assert kubelet.capacity == {}

    @pytest.mark.kubelet(faults=[{"fault": "error", "op": "allocate", "message": "no memory"}])
    def test_a_refusal_has_the_kubelets_words(kubelet, plugin):
        with pytest.raises(Exception, match="no memory"):
            kubelet.allocate(RESOURCE)
        assert [event.reason for event in kubelet.events] == ["UnexpectedAdmissionError"]

    @pytest.mark.kubelet(nodes=2)
    def test_nodes_have_kubelets_of_their_own(kubelet_node):
        assert kubelet_node("n0").socket_dir != kubelet_node("n1").socket_dir

`kubelet` is a `simulator.rig.kubelet.Kubelet`; `kubelet_node` returns the one of a node by name.
The marker's keywords are version, persistence, faults and nodes; options for all tests are
`--kubelet-version` and `--rebind-persistence`.

In an installed Rebind this module is `rebind_pytest`, so that pytest, when it starts, loads no
package whose name a project may have itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from simulator.rig.kubelet import Kubelet
    from simulator.rig.loop_thread import LoopThread

_MARKER = (
    "kubelet(version='1.36.2', persistence='database', faults=(), nodes=1): "
    "the live kubelet of the fixtures `kubelet` and `kubelet_node`"
)
_KEYWORDS = ("version", "persistence", "faults", "nodes")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("rebind", "live kubelets for tests of device plugins")
    group.addoption(
        "--kubelet-version",
        metavar="VERSION",
        help="version of the live kubelets, unless a test's marker says another",
    )
    group.addoption(
        "--rebind-persistence",
        metavar="PERSISTENCE",
        help="where the live kubelets keep their state: database (the default), checkpoint, ...",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture(scope="session")
def _rebind_thread() -> Iterator[LoopThread]:
    """The thread in which all live nodes of this process live."""
    _require_own_packages()
    from simulator.rig.loop_thread import LoopThread  # noqa: PLC0415 - for those who use it

    thread = LoopThread()
    yield thread
    thread.close()


@pytest.fixture
def kubelet_node(
    request: pytest.FixtureRequest, _rebind_thread: LoopThread
) -> Iterator[Callable[[str], Kubelet]]:
    """Live nodes for one test: called with a name, `n0` unless told, it returns a kubelet."""
    from simulator.pytest_kubelets import kubelets  # noqa: PLC0415 - as above

    with kubelets(_rebind_thread, _asked(request)) as by_name:
        yield by_name


@pytest.fixture
def kubelet(kubelet_node: Callable[..., Kubelet]) -> Kubelet:
    """The live kubelet of node `n0`."""
    return kubelet_node()


def _asked(request: pytest.FixtureRequest) -> dict[str, object]:
    """Return what the test and the command line ask for; the test's own marker counts first."""
    options = {
        "version": request.config.getoption("--kubelet-version"),
        "persistence": request.config.getoption("--rebind-persistence"),
    }
    asked = {name: value for name, value in options.items() if value is not None}
    for marker in reversed(list(request.node.iter_markers("kubelet"))):
        unknown = sorted(set(marker.kwargs) - set(_KEYWORDS))
        if marker.args or unknown:
            found = ", ".join([*map(repr, marker.args), *unknown])
            pytest.fail(
                f"the marker kubelet takes {', '.join(_KEYWORDS)}, by keyword; found {found}",
                pytrace=False,
            )
        asked |= marker.kwargs
    return asked


def _require_own_packages() -> None:
    """Fail with the folder that takes the place of one of Rebind's packages, if one does."""
    try:
        from simulator.shadowing import foreign_package  # noqa: PLC0415 - as above
    except ModuleNotFoundError:
        import simulator  # noqa: PLC0415 - whose it is shows when it is looked at

        found = ", ".join(simulator.__path__)
        pytest.fail(
            f"the folder {found} shadows Rebind's package `simulator`; rename it, or take it off "
            "the import path",
            pytrace=False,
        )
    if reason := foreign_package():
        pytest.fail(reason, pytrace=False)
