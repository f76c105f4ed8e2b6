"""Scenario files: their schema, their reading, replay and expectations."""
