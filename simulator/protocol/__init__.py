"""Protobuf code of the device plugin, plugin registration and PodResources APIs.

The `.proto` files are ours, from the tables of kubelet-behaviour.md; the `_pb2` modules are
generated from them (`python -m tests.protocol`) and know only the pool of `pool`. `services` is the
table of methods, from which servers and clients are made.
"""
