"""The commands: one module for each, or one package where a command has several parts.

No command imports another; what two of them need stands in `simulator.cli`.
"""
