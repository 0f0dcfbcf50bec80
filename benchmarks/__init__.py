"""Benchmarks against other libraries: each uses only public interfaces and measures both sides in one run."""
