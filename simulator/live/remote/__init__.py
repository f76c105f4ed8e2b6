"""Nodes as clients of a real API server: their requests, and the watch that they follow."""
