"""The simplex of class shares: grids, random points, rounding to counts, least squares and least absolute differences."""

from headcount.simplex.basis import sum_zero_basis
from headcount.simplex.grid import apportion, grid, grid_size, uniform
from headcount.simplex.least_absolute import mixture_least_absolute
from headcount.simplex.least_squares import mixture_least_squares

__all__ = [
    "apportion",
    "grid",
    "grid_size",
    "mixture_least_absolute",
    "mixture_least_squares",
    "sum_zero_basis",
    "uniform",
]
