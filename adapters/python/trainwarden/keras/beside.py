"""Beside: what a compiled step of Keras on JAX computes inside, by another program that gives nothing else.

A compiler that has further results to give groups its work in another way, and rounds in another: weights
would come out that are not the program's. So the model's own function makes each step, and in steps of which something
is wanted this one runs before it, on the same state, and gives none of it away.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable

import jax
import numpy as np
from jax.extend.core import jaxpr_as_fun

from ..jax import outside
from .handing import take

_jit: Callable[..., Any] = getattr(jax.jit, "_trainwarden_jax_original", jax.jit)


class Beside:
    """In the place of a twin's function. It gives what was found, and None for the step's own result.

    Prints of the step are left out of it, and where that calls functions of the program's there is none: each happens
    once.

    Attributes:
        spent_ns: what its last call took; 0 when it was compiled in that, which no interval would make cheaper.
    """

    def __init__(self, step: Callable[..., Any]) -> None:
        def found_in(*args: Any) -> dict[str, Any]:
            outputs, _ = step(*args)
            return take(getattr(step, "kind", "train"), outputs)[1]

        def silently(*args: Any) -> dict[str, Any]:
            traced = self._traced.trace(*args)
            values = jaxpr_as_fun(outside.without_saying(traced.jaxpr))(*jax.tree_util.tree_leaves(args))
            found: dict[str, Any] = jax.tree_util.tree_unflatten(traced.out_tree, values)
            return found

        self._traced = _jit(found_in)
        self._found_in = _jit(silently)
        self.spent_ns = 0

    def is_possible(self, args: tuple[Any, ...]) -> bool:
        with _drawing_nothing():
            return not outside.calls(self._traced.trace(*args).jaxpr)

    def __call__(self, *args: Any) -> dict[str, Any]:
        compiled, begin = self._found_in._cache_size(), time.perf_counter_ns()
        with _drawing_nothing():
            found: dict[str, Any] = jax.block_until_ready(self._found_in(*args))
        is_new = self._found_in._cache_size() != compiled
        self.spent_ns = 0 if is_new else time.perf_counter_ns() - begin
        return found


@contextmanager
def _drawing_nothing() -> Iterator[None]:
    """A step that draws numbers of Python's or NumPy's while it is traced gets the same ones for the model's own."""
    of_python, of_numpy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)


class TrackedLoss:
    """The loss of a step by what the model's tracker of it adds up: numbers that are there without any program."""

    def __init__(self, model: Any, args: tuple[Any, ...]) -> None:
        tracked = getattr(getattr(model, "_loss_tracker", None), "variables", ())
        known = [id(each) for each in model.metrics_variables]
        self._places = [known.index(id(each)) for each in tracked if id(each) in known]
        self._before = self._in(args[0]) if len(self._places) == 2 else []

    def value(self, state: Any) -> Any:
        """Behind the step, of its new state. None: nothing was added."""
        if not self._before:
            return None
        (total, count), (total_before, count_before) = self._in(state), self._before
        return np.float32((total - total_before) / (count - count_before)) if count > count_before else None

    def _in(self, state: Any) -> list[float]:
        return [float(np.asarray(state[-1][place])) for place in self._places]
