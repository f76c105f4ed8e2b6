"""An operator's own node as a scenario, made of its checkpoint file and its pods."""
