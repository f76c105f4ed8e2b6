"""The types of the objects that the API serves: their fields, and how their lists merge.

The names and types of the fields are those of Kubernetes' `core/v1` and `coordination/v1`, up to
1.37; a test compares them with the official client's. `notation` reads them, `checking` checks
and normalizes bodies by them, `openapi` writes them out.
"""
