"""The wire: gRPC over unix sockets, between a node's kubelet and its plugins and agents.

Adapters without decisions. A server hands what it receives to the callbacks of its owner and sends
what they answer; a client turns values of `simulator.core` into messages and back. Everything runs
on the owner's asyncio loop. `grpc` is imported here and nowhere below or beside, except in the
serving parts of `plugins`.
"""
