"""The schema of `ChurnProfile` files: the same for errors and `rebind explain`."""
