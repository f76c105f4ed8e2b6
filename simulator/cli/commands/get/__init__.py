"""`rebind get`: what a database knows of nodes, devices, pods and bindings."""
