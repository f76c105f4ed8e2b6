"""`rebind diagnose`: what happened to a pod, in which kubelets, and what to do."""
