"""`rebind checkpoint`: real checkpoint files, read, compared, imported and exported."""
