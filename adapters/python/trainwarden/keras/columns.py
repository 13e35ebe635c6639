"""Columns: what rows of steps within a compiled loop have, a loss or the statistics of a tensor each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

_NUMBERS = ("min", "max", "abs_min", "sum", "abs_sum", "square_sum")
_COUNTS = ("nan_count", "positive_inf_count", "negative_inf_count", "zero_count")


@dataclass(frozen=True)
class Column:
    """`dtype`: "float32" and its like. `shape`: of the tensor; None: it is a number, which is kept itself."""

    name: str
    collection: str
    dtype: str
    shape: Optional[tuple[int, ...]] = None
    is_weight: bool = False

    @property
    def width(self) -> int:
        return 1 if self.shape is None else len(_NUMBERS) + len(_COUNTS)

    def number(self, values: Any) -> Any:
        """As it was; of a type that NumPy does not know, as float32."""
        return np.asarray(values[0], np.dtype("float32" if self.dtype == "bfloat16" else self.dtype))

    def statistics(self, values: Any) -> dict[str, Any]:
        """As Hook.save_statistics() takes them. Large counts are rounded, but there are no more than elements."""
        size = int(np.prod(self.shape or ()))
        numbers = dict(zip(_NUMBERS, map(float, values)))
        counts = {name: min(size, int(count)) for name, count in zip(_COUNTS, values[len(_NUMBERS) :])}
        return {**numbers, **counts}


# What a step has, by its columns.
Row = list[tuple[Column, Any]]
