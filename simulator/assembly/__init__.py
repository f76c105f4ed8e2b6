"""The only composition root: builds adapters and hands them out (details 8).

`stores` opens databases, `worlds` builds nodes for a run, `api_server` serves objects, `servers`
runs nodes to be used from outside, or finds who does.
"""
