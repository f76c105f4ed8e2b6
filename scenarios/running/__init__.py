"""Runs of scenarios: steps when they are due, expectations when they are judged."""
