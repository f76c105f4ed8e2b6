"""What `kubectl` prints and `kubectl apply` takes, as far as scenarios and diagnoses read it."""
