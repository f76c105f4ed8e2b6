"""`rebind doctor`: which state a node is in, what disagrees, and what to do."""
