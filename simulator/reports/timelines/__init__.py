"""What happened as lanes over time: bars for what lasts, ticks for what happens at once."""
