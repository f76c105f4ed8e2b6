"""A plugin without hardware: as many devices as wanted, and answers that are always the same."""
