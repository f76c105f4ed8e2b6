"""Nodes and their cluster in time: kubelet process, pods, runtime, API objects.

What a node is made of (time, disk, database, sockets, plugins) comes through `ports`, from one of
two drivers: `simulator.engine.virtual` has models of them in virtual time, `simulator.live` the
real ones. Everything else is the same code under both.
"""
