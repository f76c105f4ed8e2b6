"""Numbered schema revisions as literal DDL; only `env.py` knows the declared tables.

To add one: `alembic -x url=sqlite:///rebind.db revision -m "..." --rev-id 000N`, write both
directions, set `store.tables.SCHEMA_REVISION`, and change the declared tables alike; a test
compares the two.
"""
