"""Scenario files become scenarios that can be run: everything they refer to is read and checked."""
