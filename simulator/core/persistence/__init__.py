"""How bindings are kept: one module per strategy, all with the protocol of `protocol`."""
