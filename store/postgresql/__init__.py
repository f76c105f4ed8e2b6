"""PostgreSQL's own: its connections, its writer, its lock."""
