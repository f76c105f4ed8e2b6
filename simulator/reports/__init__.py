"""Views of records and verdicts: transcript, table, JSON, JUnit XML."""
