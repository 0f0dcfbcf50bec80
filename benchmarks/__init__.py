"""Benchmarks against the peers: each calls only the public API that a user calls, both sides in one run."""
