"""The messages of a ContainerAllocateResponse: the fields' numbers and wire types (S1.4)."""

from __future__ import annotations

from typing import Final

from simulator.core.protobuf_wire import BYTES, VARINT

ENVS, MOUNTS, DEVICES, ANNOTATIONS, CDI_DEVICES = range(1, 6)
KEY, VALUE = 1, 2
CONTAINER_PATH, HOST_PATH, READ_ONLY_OR_PERMISSIONS = 1, 2, 3
NAME: Final = 1
RESPONSE: Final = dict.fromkeys((ENVS, MOUNTS, DEVICES, ANNOTATIONS, CDI_DEVICES), BYTES)
RESPONSE_WITHOUT_CDI: Final = dict.fromkeys((ENVS, MOUNTS, DEVICES, ANNOTATIONS), BYTES)
MOUNT: Final = {CONTAINER_PATH: BYTES, HOST_PATH: BYTES, READ_ONLY_OR_PERMISSIONS: VARINT}
DEVICE: Final = {CONTAINER_PATH: BYTES, HOST_PATH: BYTES, READ_ONLY_OR_PERMISSIONS: BYTES}
CDI_DEVICE: Final = {NAME: BYTES}
ENTRY: Final = {KEY: BYTES, VALUE: BYTES}
