"""Migration between the checkpoint file and the database: there and back, killed at every step."""
