"""Who notices when a switch of the version table is flipped (acceptance of the switch table).

For every switch and every two values that it has in some profile there is a witness: a built-in
scenario whose records or verdicts change, or a short run of a device manager whose outcome does.
`python -m tests.witnesses` prints the pairs; tests/test_witnesses.py proves them.
"""
