"""The first driver: time that is computed, and the models of a node's parts in it.

`simulated_parts` keeps the promises of `simulator.engine.ports` with a disk, a database and plugins
that are models; `simulation` runs a world of them. Nothing of it is used by the second driver,
`simulator.live`.
"""
