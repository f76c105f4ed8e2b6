"""The hardware behind a device id, where the id says so.

NVIDIA's plugin advertises a shared GPU as replicas `GPU-…::0`, `GPU-…::1`, and a MIG partition of
the older form as `MIG-GPU-…/gi/ci`, which may have replicas too. Ids of other forms stand for
themselves; the newer `MIG-…` ids do not say on which GPU they are.
"""

from __future__ import annotations

import re
from typing import Final

_REPLICA: Final = re.compile(r"(.+)::[0-9]+", re.ASCII)
_PARTITION: Final = re.compile(r"MIG-(GPU-[^/]+)/[0-9]+/[0-9]+", re.ASCII)


def stands_for(device: str) -> tuple[str, ...]:
    """Return the id itself and what it is a part of: replica, partition, GPU."""
    ids = [device]
    for part in (_REPLICA, _PARTITION):
        match = part.fullmatch(ids[-1])
        if match is not None:
            ids.append(match[1])
    return tuple(ids)
