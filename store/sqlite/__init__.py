"""SQLite's own: its connections, its writer, its write-ahead log."""
