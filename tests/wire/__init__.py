"""Tests of the wire over real unix sockets."""
