"""The API server: a Kubernetes-dialect HTTP API over the store, and the client of its kubelets."""
