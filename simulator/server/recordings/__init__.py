"""Recordings of live runs: what reached a run from outside, written down and done again.

`inputs` are what reaches it; `recorded_parts` and `tape` write them while the server runs, and
`playback` gives them to a world in virtual time, on `replayed_parts`.
"""
