"""The decisions of the kubelet's device manager, pure and deterministic.

Nothing here reads a clock, draws a random number, opens a file or logs. Functions take facts and
`now`; where the kubelet would call a plugin or write a file in the middle of a decision, the core
yields a `simulator.core.calls` value and is resumed with the reply. What does not belong here:
anything that knows how a reply is obtained.
"""
