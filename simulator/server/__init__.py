"""The running server: what its control interface answers, over a world of any driver.

Kubernetes objects in and out, events, watches, recordings. It knows no socket (`simulator.wire`)
and no database (the composition root hands one over), and decides nothing that a kubelet decides.

    serving, served     a server, from its start to its end
    service, requested, commands, awaited       requests, and how those that act get their turn
    pods, manifests, naming     pods and workloads: apply, find, delete
    pod_notes, journal, kept    the same over restarts of the server
    remote_pods         the same where an API server has them
    objects, pod_objects, node_objects, event_log, descriptions     what is shown
    feed                who watches it
    reading, record_book        what is asked of a store, and one made of records
    plugin_host         built-in plugins
    recordings          runs written down, and done again
"""
