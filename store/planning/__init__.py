"""Transitions become rows: what a batch adds, changes and ends."""
