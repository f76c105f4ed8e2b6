"""Files as text: read into documents that remember where everything stands, and their faults."""
