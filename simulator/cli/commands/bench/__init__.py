"""`rebind bench`: what keeping bindings costs, measured, shown, and compared."""
