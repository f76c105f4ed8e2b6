"""Workloads and timing: figures that are ratios measured side by side in one run."""
