"""Nodes and their cluster in time: kubelet process, pods, runtime, API objects.

What a node is made of (time, disk, database, sockets, plugins) comes through `ports`. Here are the
parts in virtual time, with `simulation` as their driver; `simulator.live` has the real ones.
"""
