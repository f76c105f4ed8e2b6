"""HTML pages that stand alone; the only part that needs Jinja2, of the extra `report`."""
