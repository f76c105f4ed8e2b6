"""The rows of the switch table, by subject; `simulator.core.switches` puts them together.

A row begins with the value of 1.10, the oldest kubelet that is replayed, and names the release of
every change with the patches to which it was ported back.

`1.20.2 list 4` is an entry of the recordings' list of differences to 1.36.2. `[?]` marks what is
believed and not verified. Where two recorded versions differ and nobody names the minor version of
the change, the old behavior is that of 1.24 and older (details 1); what changed between 1.32.10 and
1.36.2 without a name changed in 1.36 (kubelet-behaviour, appendix C).
"""
