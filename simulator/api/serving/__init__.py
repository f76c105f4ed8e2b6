"""The API server: HTTP in front of the dialect's decisions and the store's commits.

A request passes these modules, from the socket to the answer:

    protocol, server   connections: uvicorn with httptools, bounded (what was measured: `server`)
    exchange           one request and its answer
    app                what is asked for, by whom (`access`), and whether there is room (`gate`)
    reads, showing     get and list, from memory
    streaming, watches, events    watches: a place among the events of a kind, and nothing else
    orders, writes, deletions, binding    what is written
    committing, turns  one write of an object at a time, decided by the dialect, then committed
    objects, shelves, stored    everything in memory, encoded once, equal to the database
    running, setup, certificates, kubeconfig    a server's beginning and end

All of it is on one loop; the only other thread is the committer's, which wakes the loop once for
all whose writes it has committed together.
"""
