"""Workloads, timing and figures.

`make bench` prints one table: each figure beside its bar (`bars`). Figures are ratios of two things
measured in turns within one run, or counts; times of this machine are context. Nothing in here
asserts a time, and nothing in a table is typed in. `rebind bench run` measures churn in an open
loop (`churn`).
"""
