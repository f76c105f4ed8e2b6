"""Plots as inline SVG: pure functions from numbers to text, the same bytes for the same numbers.

A plot knows nothing of what it shows, needs no script, and takes its colors from the page's style
(classes `s0` to `s7`), so that they hold in light and dark. Lines differ by color, dash and marker.
"""
