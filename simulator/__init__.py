"""Rebind: a kubelet device manager without a kubelet.

`simulator.core` decides, `simulator.engine` drives it in virtual time, `store` keeps what was
decided, `scenarios` describes what happens to a node, and `simulator.cli` is the way in.
"""
