"""The descriptor pool of Rebind's generated code.

Messages of the packages `v1beta1`, `v1` and so on may exist in a process already: a device plugin's
own generated code, in whose tests Rebind runs, has put them into the default pool. A pool refuses a
name twice, so ours has its own.
"""

from __future__ import annotations

from typing import Final

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

POOL: Final = DescriptorPool()


def add_message_classes(file: FileDescriptor, module: dict[str, object]) -> None:
    """Give a generated module the classes of its file's messages, and its services' descriptors.

    protobuf's own builder does this too, but registers them for the whole process, which its
    Python implementation refuses where a foreign message has the name.
    """
    if file.enum_types_by_name or file.extensions_by_name:
        message = f"{file.name}: enums and extensions at the top of a file are not provided for"
        raise ValueError(message)
    for name, service in file.services_by_name.items():
        module[f"_{name.upper()}"] = service
    for name, descriptor in file.message_types_by_name.items():
        module[name] = GetMessageClass(descriptor)
