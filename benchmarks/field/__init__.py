"""Agreement with QuaPy and time against it, for every method that both libraries have: `python -m benchmarks.field`.

A module of this package lists the cases of one group of methods as ``CASES``.
"""
