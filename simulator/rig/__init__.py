"""A live node for those who test against one: started, steered and looked at from plain code.

The node runs on an asyncio loop in a thread of its own; everybody else calls and waits. The tap on
its wire shows what it and a plugin said to each other. No rule of the kubelet is stated here.
"""
