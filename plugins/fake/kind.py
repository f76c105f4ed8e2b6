"""The options of `fake` plugins, and the plugins that they make."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Final

from plugins.conduct import Conduct
from plugins.fake.inventory import DeviceLayout, IdStyle, NumaLayout
from plugins.fake.plugin import FakePlugin, FakeSettings, Flaps, Latency
from plugins.fake.preferences import Preference
from plugins.kinds import RESOURCE_NAME, Kind, Plan, Setting
from plugins.options import (
    Chosen,
    Option,
    number_between,
    one_of,
    read_period,
    read_span,
    read_switch,
    read_text,
    some_of,
)
from simulator.core.devices import UNHEALTHY, Device, DeviceId
from simulator.core.plugin_answers import AnswerParts
from simulator.errors import ConfigError

DEVICES_MAX: Final = 1_000_000
"""Most devices of one fake plugin; a kubelet takes about 150,000 with short ids (S1.21)."""
_SEED_MAX: Final = (1 << 63) - 1

RESOURCE: Final = replace(
    RESOURCE_NAME,
    default="example.com/gpu",
    help="Extended resource that is offered; several make a plugin with as many sockets",
)
COUNT: Final = Option(
    name="count",
    read=number_between(0, DEVICES_MAX),
    default="8",
    metavar="N",
    help="How many pieces of hardware there are",
)
REPLICAS: Final = Option(
    name="replicas",
    read=number_between(1, DEVICES_MAX),
    default="1",
    metavar="N",
    help="How many devices each of them is shared as; ids end in ::N then",
)
ID_STYLE: Final = Option(
    name="id-style",
    read=one_of(style.value for style in IdStyle),
    default=IdStyle.INDEX.value,
    metavar="index|uuid",
    help="What ids look like: gpu-0, or GPU- and a UUID",
)
NUMA_NODES: Final = Option(
    name="numa-nodes",
    read=number_between(0, 64),
    default="0",
    metavar="N",
    help="On how many NUMA nodes the devices are; 0 for devices without topology",
)
NUMA_LAYOUT: Final = Option(
    name="numa-layout",
    read=one_of(layout.value for layout in NumaLayout),
    default=NumaLayout.SPREAD.value,
    metavar="spread|blocks|all|empty",
    help="Devices dealt out one by one, in one run a node, each near all nodes, or near none",
)
UNHEALTHY_DEVICES: Final = Option(
    name="unhealthy",
    read=read_text,
    metavar="ID",
    is_repeated=True,
    help="Device that is Unhealthy at first",
)
PREFERRED: Final = Option(
    name="preferred",
    read=one_of(preference.value for preference in Preference),
    default=Preference.NONE.value,
    metavar="none|first|packed|spread|numa",
    help="Which devices GetPreferredAllocation answers: few pieces of hardware, many, few nodes",
)
PRE_START: Final = Option(
    name="pre-start",
    read=read_switch,
    default="false",
    is_flag=True,
    help="Want PreStartContainer before every start of a container",
)
ANSWER: Final = Option(
    name="answer",
    read=some_of(("envs", "devices", "mounts", "annotations", "cdi")),
    default="envs,devices",
    metavar="PART,...",
    help="What Allocate answers with: envs, devices, mounts, annotations, cdi; or none",
)
FLAP_PERIOD: Final = Option(
    name="flap-period",
    read=read_period,
    metavar="DURATION",
    help="Let a device fall ill each time so long has passed without an ill one",
)
FLAP_ILLNESS: Final = Option(
    name="flap-illness",
    read=read_span,
    default="1s",
    metavar="DURATION",
    help="How long a device is ill then",
)
SEED: Final = Option(
    name="seed",
    read=number_between(0, _SEED_MAX),
    default="0",
    metavar="N",
    help="What UUIDs and the choice of ill devices are made from",
)
OPTIONS_LATENCY, ALLOCATE_LATENCY, PREFERRED_LATENCY, PRE_START_LATENCY = (
    Option(
        name=f"{name}-latency",
        read=read_span,
        default="0s",
        metavar="DURATION",
        help=f"How long {call} takes",
    )
    for name, call in (
        ("options", "GetDevicePluginOptions"),
        ("allocate", "Allocate"),
        ("preferred", "GetPreferredAllocation"),
        ("pre-start", "PreStartContainer"),
    )
)
OPTIONS: Final[tuple[Option[Any], ...]] = (
    RESOURCE,
    COUNT,
    REPLICAS,
    ID_STYLE,
    NUMA_NODES,
    NUMA_LAYOUT,
    UNHEALTHY_DEVICES,
    PREFERRED,
    PRE_START,
    ANSWER,
    FLAP_PERIOD,
    FLAP_ILLNESS,
    SEED,
    OPTIONS_LATENCY,
    ALLOCATE_LATENCY,
    PREFERRED_LATENCY,
    PRE_START_LATENCY,
)


def devices_of(chosen: Chosen, resource: str) -> tuple[Device, ...]:
    """Return the devices that a resource has at first.

    Raises:
        ConfigError: They are too many, or one that is named is not among them.
    """
    count, replicas = chosen.one(COUNT), chosen.one(REPLICAS)
    if count * replicas > DEVICES_MAX:
        reason = (
            f"--count {count} with --replicas {replicas} are {count * replicas} devices; "
            f"at most {DEVICES_MAX} can be offered"
        )
        raise ConfigError(reason)
    layout = DeviceLayout(
        count=count,
        id_style=IdStyle(chosen.one(ID_STYLE)),
        replicas=replicas,
        numa_nodes=chosen.one(NUMA_NODES),
        numa_layout=NumaLayout(chosen.one(NUMA_LAYOUT)),
        seed=chosen.one(SEED),
    )
    devices = layout.devices(resource)
    ill = {DeviceId(text) for text in chosen.all(UNHEALTHY_DEVICES)}
    strange = sorted(ill - {device.id for device in devices})
    if strange:
        there = f"{devices[0].id} to {devices[-1].id}" if devices else "none"
        reason = f"--unhealthy: {resource} has no device {strange[0]!r}; there are {there}"
        raise ConfigError(reason)
    return tuple(
        replace(device, health=UNHEALTHY) if device.id in ill else device for device in devices
    )


def settings_of(chosen: Chosen) -> FakeSettings:
    """Return how the plugin answers."""
    parts = chosen.one(ANSWER)
    period = chosen.maybe(FLAP_PERIOD)
    return FakeSettings(
        parts=AnswerParts(
            envs="envs" in parts,
            device_nodes="devices" in parts,
            mounts="mounts" in parts,
            annotations="annotations" in parts,
            cdi_devices="cdi" in parts,
        ),
        preference=Preference(chosen.one(PREFERRED)),
        pre_start_required=chosen.one(PRE_START),
        latency=Latency(
            options=chosen.one(OPTIONS_LATENCY),
            allocate=chosen.one(ALLOCATE_LATENCY),
            preferred_allocation=chosen.one(PREFERRED_LATENCY),
            pre_start=chosen.one(PRE_START_LATENCY),
        ),
        flaps=None
        if period is None
        else Flaps(period=period, illness=chosen.one(FLAP_ILLNESS), seed=chosen.one(SEED)),
    )


def _open(chosen: Chosen, setting: Setting, _: Conduct) -> AbstractContextManager[Sequence[Plan]]:
    return nullcontext(
        [
            Plan(
                model=FakePlugin(
                    resource,
                    devices_of(chosen, resource),
                    settings_of(chosen),
                    sleep=setting.sleep,
                )
            )
            for resource in chosen.all(RESOURCE)
        ]
    )


FAKE: Final = Kind(
    name="fake",
    summary="Devices that need no hardware",
    text=(
        "The same options give the same devices and the same answers, and the same ids the same "
        "bytes, before and after a restart; a scenario's plugin answers so too. Each device gets a "
        "node /dev/ID, and the variable EXAMPLE_COM_GPU has the ids."
    ),
    example="--count 4 --numa-nodes 2 --preferred packed",
    options=OPTIONS,
    open=_open,
)
