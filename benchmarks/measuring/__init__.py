"""Runs churn profiles: makes the nodes, offers the load, and fills the rows of the results.

The load drives the engine's own world, on the real clock with real files and databases or in
virtual time, so that what is measured is the product and not a second loop beside it. What is
measured comes from the world's records and from the requests of its kubelets as they pass; nothing
is polled.
"""
