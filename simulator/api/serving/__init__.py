"""The API server: HTTP in front of the dialect's decisions and the store's commits.

A request passes these modules, from the socket to the answer:

    protocol, server   connections: uvicorn with httptools, bounded (what was measured: `server`)
    exchange           one request and its answer
    app                what is asked for, by whom (`access`), and whether there is room (`gate`,
                       `readiness`)
    reads, showing     get and list, from memory
    streaming, watches, events    watches: a place among the events of a kind, and nothing else
    orders, writes, deletions, binding    what is written
    committing, turns  one write of an object at a time, decided by the dialect, then committed
    objects, shelves, stored    everything in memory, encoded once, equal to the database
    running, setup, certificates, kubeconfig    a server's beginning and end

What a create takes beyond HTTP and the commit was measured without either, with an object of 500
bytes: 38 us, of which 3 read the JSON, 9 check it and fill it in (4 the walk along the types of
its fields, 3 the rules of its kind, 2 the metadata), 5 encode it, 2 publish it; it was 58 before
fields were looked up in plain dictionaries, paths made only for what is wrong, documents copied
once, and what only a path, a caller or a kind decides was kept.

All of it is on one loop; the only other thread is the committer's, which wakes the loop once for
all whose writes it has committed together.
"""
