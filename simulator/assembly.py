"""The only composition root: builds adapters and hands them out (details 8)."""
