"""`rebind explore`: a scenario run once for every way to cut it."""
