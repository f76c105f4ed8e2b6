"""Virtual time and the simulated machine: the driver of the core that needs no real world."""
