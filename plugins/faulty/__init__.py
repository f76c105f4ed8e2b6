"""Plugins that do what plugins in the field have done wrong, one mode for each way."""
