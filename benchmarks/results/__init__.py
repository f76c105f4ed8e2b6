"""What a benchmark run gave: values, files, tables, findings, plots and comparisons.

The values (`rows`) are filled by what measures. Everything else in here is computed from them, and
says no more than they carry.
"""
