"""What a device plugin must do, asked of a running one (`rebind conform`).

A plugin is started against a node of its own, in real time and over real sockets; the node is the
live node, with its kubelet, so no rule of the kubelet is stated here. What is asked stands in
`catalog`: the names are stable, since people keep lists of them.
"""
