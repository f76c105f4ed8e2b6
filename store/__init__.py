"""The database: tables, the committer, and the store that the ports promise."""
