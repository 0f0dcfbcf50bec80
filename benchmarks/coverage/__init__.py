"""How often intervals, regions and comparisons hold the truth: a table by simulation, docs/coverage.md, by `make coverage-table`.

`worlds` draws items, `cell` and `cells` say the settings and what each must meet, `simulate` makes simulations of one cell,
`figures` adds them up and judges, `page` writes. Headcount is used through its public names only, so that ``PYTHONPATH`` can put
another version of it under the same cells.
"""
