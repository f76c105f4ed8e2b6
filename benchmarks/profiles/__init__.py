"""Churn profiles: their files, the presets among them, what they ask for, and their schedules."""
