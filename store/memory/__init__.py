"""The store without a database: what the store in SQL must be equal to, in the simplest form."""
