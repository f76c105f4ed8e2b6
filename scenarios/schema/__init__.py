"""The schema of scenario files: what may stand in them, how it is explained and written."""
