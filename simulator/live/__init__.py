"""The live driver: the engine's nodes on the real clock, with real files, sockets and databases.

Everything runs on one asyncio loop. What comes from outside (an RPC's answer, a commit, a command)
enters through the timeline, so that a node sees one thing after the other, as a kubelet's one loop
does. The disk and the database are used by threads; the loop never waits for them.
"""
