"""The wire: gRPC over unix sockets, between a node's kubelet and its plugins and agents.

Adapters without decisions. A server hands what it receives to the callbacks of its owner and sends
what they answer; a client turns values of `simulator.core` into messages and back. Everything runs
on the owner's asyncio loop. `grpc` is imported here and nowhere else.
"""

from __future__ import annotations

import os
from typing import Final

_VERBOSITY: Final = "GRPC_VERBOSITY"


def _import_grpc_quietly() -> None:
    """Import grpc so that its C core writes nothing of its own to stderr.

    It tells there of every connection that a peer closes; what matters comes as errors. It reads
    the variable when it is imported, so processes started from here do not inherit the setting.
    """
    if _VERBOSITY in os.environ:
        return
    os.environ[_VERBOSITY] = "NONE"
    try:
        import grpc  # noqa: F401, PLC0415 - the one import that must happen with the variable set
    finally:
        del os.environ[_VERBOSITY]


_import_grpc_quietly()
