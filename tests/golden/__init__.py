"""The oracle runner: replays recordings of the real kubelet and reports every difference.

`python -m tests.golden PATH [PATH...]` finds checkpoints, damaged files, lists of what another
version read, and traces below each path, by what the files hold and not by their names. The last
line sums up; the exit code is 0 without differences, 1 with some, 2 when nothing was found.
"""
