"""Type aliases used in many signatures."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.signedinteger[Any]]
AnyArray: TypeAlias = NDArray[Any]
Labels: TypeAlias = Sequence[Any] | AnyArray
"""Labels of items: any one-dimensional sequence of strings, integers or booleans."""
Items: TypeAlias = Any
"""Input of a classifier: a dense or sparse matrix, a data frame, a list of texts."""
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
