"""`rebind serve`: live nodes."""
