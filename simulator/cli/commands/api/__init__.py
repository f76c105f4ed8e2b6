"""`rebind api`: the API server."""
