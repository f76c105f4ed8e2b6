"""The running server: what its control interface answers, over a world of any driver.

Kubernetes objects in and out, events, watches, recordings. It knows no socket (`simulator.wire`)
and no database (the composition root hands one over), and decides nothing that a kubelet decides.
"""
