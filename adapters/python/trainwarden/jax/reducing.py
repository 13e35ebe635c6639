"""Statistics that JAX computes, where its arrays are: of those whose elements the hook cannot read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

_MOST = 2**31 - 1  # elements: they are counted in int32
_NUMBERS = ("min", "max", "abs_min", "sum", "abs_sum", "square_sum")
_COUNTS = ("nan_count", "positive_inf_count", "negative_inf_count", "zero_count")


def can_reduce(value: Any) -> bool:
    """Is it of real numbers, and not of too many?"""
    return bool(jnp.issubdtype(value.dtype, jnp.number)) and not jnp.iscomplexobj(value) and value.size <= _MOST


def statistics_of(value: Any) -> dict[str, Any]:
    """What Hook.save_statistics() takes: of the elements in float32, added in float32."""
    if value.size == 0:
        return dict.fromkeys(_NUMBERS, 0.0)
    numbers, counts = _reduced(value)
    given: dict[str, Any] = dict(zip(_NUMBERS, numbers.tolist()))
    given.update(zip(_COUNTS, counts.tolist()))
    return given


def _reduce(value: jax.Array) -> tuple[jax.Array, jax.Array]:
    """All in two small arrays, which are fetched at once. Columns first: so XLA's loops are quicker, and its sums are
    closer."""
    rows = value.astype(jnp.float32).reshape((-1, value.shape[-1] if value.ndim > 1 else 1))
    finite = jnp.isfinite(rows)
    size = jnp.abs(rows)
    numbers = [
        jnp.min(jnp.min(jnp.where(finite, rows, jnp.inf), axis=0, initial=jnp.inf), initial=jnp.inf),
        jnp.max(jnp.max(jnp.where(finite, rows, -jnp.inf), axis=0, initial=-jnp.inf), initial=-jnp.inf),
        jnp.min(jnp.min(jnp.where(finite, size, jnp.inf), axis=0, initial=jnp.inf), initial=jnp.inf),
        *(jnp.sum(jnp.sum(jnp.where(finite, each, 0), axis=0)) for each in (rows, size, rows * rows)),
    ]
    counts = [jnp.isnan(rows), rows == jnp.inf, rows == -jnp.inf, rows == 0]
    return jnp.stack(numbers), jnp.stack([jnp.sum(each, dtype=jnp.int32) for each in counts])


_reduced: Callable[[Any], tuple[Any, Any]] = jax.jit(_reduce)
