"""The notation of the upstream tables: `{0,1}P` is nodes 0 and 1, preferred; `anyn` any node, not.

`Dev1@0` is device Dev1 on node 0, `Dev1@0,1` on two, `Dev1` has no topology message, `Dev1@` one
without nodes.
"""

import re

from simulator.core.devices import Device, DeviceId, NumaNode
from simulator.core.resources import ResourceName
from simulator.core.topology import Hints, TopologyHint
from simulator.core.topology_policies import ProviderHints

_RESOURCE = re.compile(r"(?P<name>\w+)=(?:(?P<null>null)|\[(?P<hints>[^]]*)\])")


def hint(text: str) -> TopologyHint:
    nodes, preferred = text[:-1], {"P": True, "n": False}[text[-1]]
    if nodes == "any":
        return TopologyHint(None, preferred)
    inside = nodes.strip("{}")
    return TopologyHint.over(*map(int, inside.split(",")) if inside else (), preferred=preferred)


def hints(text: str) -> tuple[TopologyHint, ...]:
    return tuple(hint(word) for word in text.split())


def provider(text: str) -> ProviderHints:
    if text == "nil":
        return None
    answer: dict[ResourceName, Hints] = {}
    for found in _RESOURCE.finditer(text):
        offered = None if found["null"] else hints(found["hints"])
        answer[ResourceName(found["name"])] = offered
    return answer


def providers(text: str) -> list[ProviderHints]:
    return [provider(part.strip()) for part in text.split("+")] if text else []


def device(text: str) -> Device:
    name, at, nodes = text.partition("@")
    topology = tuple(NumaNode(int(node)) for node in nodes.split(",")) if nodes else ()
    return Device(DeviceId(name), topology=topology if at else None)


def devices(text: str) -> dict[DeviceId, Device]:
    found = [device(word) for word in text.split()]
    return {one.id: one for one in found}


def ids(text: str) -> tuple[DeviceId, ...]:
    return tuple(DeviceId(word) for word in text.split())
