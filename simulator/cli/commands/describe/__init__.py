"""`rebind describe`: one pod or node with all that belongs to it."""
