"""Scenarios cut at every effect, and what is found shrunk to the shortest file that shows it."""
