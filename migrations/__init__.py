"""Numbered schema revisions as literal DDL; only `env.py` knows the declared tables."""
