"""Optimizers: what one of Keras 3, of Keras 2 or of its older kind has."""

from __future__ import annotations

from typing import Any

import numpy as np


def variables_of(optimizer: Any) -> list[Any]:
    """Of None: none. The older kind has a method that gives them."""
    found = getattr(optimizer, "variables", ())
    return list(found() if callable(found) else found)


def updates_of(optimizer: Any) -> int:
    """How many batches it has taken so far, but those that a loss scale leaves out. Where several are one update,
    Keras 3 counts updates, and keeps the batches beside them."""
    held = getattr(optimizer, "inner_optimizer", optimizer)
    count = getattr(held, "_iterations", None)
    return int(np.asarray(getattr(held, "iterations", 0) if count is None else count))


def learning_rate_of(optimizer: Any) -> Any:
    """The variable, where it is one: what Keras 3 computes of a schedule takes half a millisecond."""
    held = getattr(optimizer, "inner_optimizer", optimizer)
    if hasattr(held, "_decayed_lr"):
        return _rate_of_older_kind(held)
    variable = getattr(held, "_learning_rate", None)
    return variable if hasattr(variable, "assign") else held.learning_rate


def _rate_of_older_kind(optimizer: Any) -> Any:
    rate = optimizer.learning_rate
    is_plain = hasattr(rate, "assign") and not optimizer._initial_decay
    return rate if is_plain else optimizer._decayed_lr("float32")
