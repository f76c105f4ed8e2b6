"""Tests of the generated protobuf code, and its generator."""
