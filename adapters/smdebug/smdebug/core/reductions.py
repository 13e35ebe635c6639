"""Reductions of arrays, and the names under which files of smdebug's hold them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..exceptions import SMDebugValueError
from .reduction_config import ALLOWED_NORMS, ALLOWED_REDUCTIONS

REDUCTIONS_PREFIX = "smdebug/reductions/"

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "min": np.min,
    "max": np.max,
    "mean": np.mean,
    "std": np.std,
    "variance": np.var,
    "sum": np.sum,
    "prod": np.prod,
    "l1": lambda array: np.linalg.norm(np.ravel(array), 1),
    "l2": lambda array: np.linalg.norm(np.ravel(array), 2),
}


def get_numpy_reduction(reduction_name: str, numpy_data: Any, abs: bool = False) -> Any:
    """The reduction over all elements: norms are entrywise, std and variance the population's (divided by n).

    Raises:
        SMDebugValueError: an unknown reduction.
    """
    if reduction_name not in _FUNCTIONS:
        allowed = ", ".join(ALLOWED_REDUCTIONS + ALLOWED_NORMS)
        raise SMDebugValueError(f"expected a reduction out of {allowed}, found {reduction_name!r}")
    data = np.absolute(numpy_data) if abs else np.asarray(numpy_data)
    return _FUNCTIONS[reduction_name](data)


def get_reduction_tensor_name(tensorname: str, reduction_name: str, abs: bool, remove_colon_index: bool = True) -> str:
    """ "w", "mean", True → "smdebug/reductions/abs_mean/w". TensorFlow keeps the ":0" of its names."""
    name = re.sub(r":\d+", "", tensorname) if remove_colon_index else tensorname
    return f"{REDUCTIONS_PREFIX}{'abs_' if abs else ''}{reduction_name}/{name}"


def reverse_reduction_tensor_name(reduction_tensor_name: str) -> tuple[str, str, bool]:
    """The tensor's name, the reduction, and whether it is of the absolute value."""
    reduction, name = reduction_tensor_name.split(REDUCTIONS_PREFIX, 1)[1].split("/", 1)
    is_abs = reduction.startswith("abs_")
    return name, reduction[len("abs_") :] if is_abs else reduction, is_abs
