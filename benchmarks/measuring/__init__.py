"""Runs churn profiles: makes the nodes, offers the load, and fills the rows of the results.

The load drives the engine's own world, on the real clock with real files and databases or in
virtual time, so that what is measured is the product and not a second loop beside it. What is
measured comes from the world's records and from the requests of its kubelets as they pass; nothing
is polled.

Profiled over 200 nodes with `database`: the whole life of a pod, from its creation to its deletion
from the API, is 27 events, 3 commits and 9 API requests, and takes 0.6 ms of CPU time, the load
generator's tenth included. So one core serves some 1,600 pods a second. No function takes more than
3 % of it, and nothing grows with the number of pods or nodes.
"""
