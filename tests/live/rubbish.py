"""What a hostile plugin may say: bytes that are no message, and messages full of nonsense."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from simulator.protocol import rebind_deviceplugin_pb2 as device_plugin
from simulator.protocol import rebind_pluginregistration_pb2 as plugin_registration
from tests.wire.test_hostile_bytes import FULL_ANSWER, FULL_LIST, damaged

EVIL: Final = "example.com/evil"
REGISTRATION: Final = device_plugin.RegisterRequest(
    version="v1beta1", endpoint="evil.sock", resource_name=EVIL
).SerializeToString()
PREFERENCE: Final = device_plugin.PreferredAllocationResponse(
    container_responses=[
        device_plugin.ContainerPreferredAllocationResponse(deviceIDs=["gpu-0", "gpu-1"])
    ]
).SerializeToString()
OPTIONS: Final = device_plugin.DevicePluginOptions(
    get_preferred_allocation_available=True, pre_start_required=True
).SerializeToString()

_BYTES: Final = st.binary(max_size=60)
_TEXTS: Final = st.text(max_size=8) | st.sampled_from(
    [
        "\n",
        "a\x1b[31mred\x07\r\nb",
        "\x00",
        "gpu-0",
        "gpu-9",
        "../../etc/passwd",
        "..",
        "/",
        "kubelet.sock",
        "evil.sock",
        "example.com/gpu",
        "v1beta1",
        "Healthy",
        "x" * 300,
        "\u202e\ufeff\U0010ffff",
    ]
)
_NUMA: Final = st.sampled_from([0, 1, -1, -5, 63, 64, 2**31, 2**63 - 1, -(2**63)])

_DEVICES: Final = st.builds(
    lambda id_, health, nodes: device_plugin.Device(
        ID=id_,
        health=health,
        topology=device_plugin.TopologyInfo(
            nodes=[device_plugin.NUMANode(ID=node) for node in nodes]
        ),
    ),
    _TEXTS,
    _TEXTS | st.just("Healthy"),
    st.lists(_NUMA, max_size=3),
)
LISTS: Final = st.one_of(
    _BYTES,
    damaged(FULL_LIST),
    st.just(device_plugin.Device(ID="x" * 33_000)).map(
        lambda device: device_plugin.ListAndWatchResponse(devices=[device]).SerializeToString()
    ),
    st.lists(_DEVICES, max_size=4).map(
        lambda devices: device_plugin.ListAndWatchResponse(devices=devices).SerializeToString()
    ),
)
_MAPS: Final = st.dictionaries(_TEXTS, _TEXTS, max_size=2)
ANSWERS: Final = st.one_of(
    _BYTES,
    damaged(FULL_ANSWER),
    st.builds(
        lambda envs, annotations, texts, count: device_plugin.AllocateResponse(
            container_responses=[
                device_plugin.ContainerAllocateResponse(
                    envs=envs,
                    annotations=annotations,
                    mounts=[device_plugin.Mount(container_path=text) for text in texts],
                    devices=[device_plugin.DeviceSpec(permissions=text) for text in texts],
                    cdi_devices=[device_plugin.CDIDevice(name=text) for text in texts],
                )
            ]
            * count
        ).SerializeToString(),
        _MAPS,
        _MAPS,
        st.lists(_TEXTS, max_size=2),
        st.integers(0, 2),
    ),
)
PREFERENCES: Final = st.one_of(
    _BYTES,
    damaged(PREFERENCE),
    st.lists(_TEXTS, max_size=4).map(
        lambda ids: device_plugin.PreferredAllocationResponse(
            container_responses=[device_plugin.ContainerPreferredAllocationResponse(deviceIDs=ids)]
        ).SerializeToString()
    ),
)
REGISTRATIONS: Final = st.one_of(
    _BYTES,
    damaged(REGISTRATION),
    st.builds(
        lambda version, endpoint, name: device_plugin.RegisterRequest(
            version=version, endpoint=endpoint, resource_name=name
        ).SerializeToString(),
        st.just("v1beta1") | _TEXTS,
        _TEXTS,
        st.just(EVIL) | _TEXTS.filter(lambda name: name != "example.com/gpu"),
    ),
)
SAYINGS: Final = st.one_of(
    st.tuples(st.just("list"), LISTS),
    st.tuples(st.just("allocate"), ANSWERS),
    st.tuples(st.just("prefer"), PREFERENCES),
    st.tuples(st.just("register"), REGISTRATIONS),
    st.tuples(st.just("options"), _BYTES | damaged(OPTIONS)),
)
"""What is answered, and with which bytes."""
ANNOUNCEMENTS: Final = st.one_of(
    _BYTES,
    st.builds(
        lambda kind, name, endpoint, versions: plugin_registration.PluginInfo(
            type=kind, name=name, endpoint=endpoint, supported_versions=versions
        ).SerializeToString(),
        st.just("DevicePlugin") | _TEXTS,
        _TEXTS.filter(lambda name: name != "example.com/gpu"),
        _TEXTS,
        st.lists(_TEXTS, max_size=2) | st.just(["v1beta1"]),
    ),
)
"""What is answered to GetInfo in `plugins_registry`."""
