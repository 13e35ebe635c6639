"""Twins: the program's function again, compiled with tagged values as further results when these are first wanted.

A compiler that has further results to give may group its work in another way, and round in another. So a twin takes the
function's place only while its results are the same, bit for bit: at the first, second, fourth, eighth ... captured call
both run and are compared. Where they differ, the function itself runs from then on, and beside it, in captured steps,
a program that gives nothing but the tagged values. A function that prints is such a one from the first call on, and one
that calls functions of the program's has no twin (outside.py).
"""

from __future__ import annotations

import inspect
import time
from collections import Counter
from typing import Any, Optional

import jax
import numpy as np
from jax.extend.core import jaxpr_as_fun

from .. import faults
from .outside import without_saying
from .plans import ALL_KINDS, Plan, plan_and_program
from .vetoing import Carried

_MAX_COPIED_BYTES = 1 << 30  # of arguments that are given away by a call, to call twice
_MAX_PLANS = 64  # of one function
_MAX_SHAPES = 256
_jit: Any = jax.jit


class Captured:
    """The further results of a twin, and the plan that they came by. A tree for JAX, so that it passes through jit."""

    def __init__(self, values: tuple[Any, ...], plan: Plan) -> None:
        self.values = values
        self.plan = plan


jax.tree_util.register_pytree_node(
    Captured, lambda captured: (captured.values, captured.plan), lambda plan, values: Captured(tuple(values), plan)
)


class Program:
    """A function and its options of jit. Functions that are given to jit again and again share it.

    Attributes:
        is_mixed: what it does depends on the shapes of its arguments; it is looked at before each call.
        cached: how many programs JAX had compiled of it when that was last asked.
        has_twin: False once one could not be made.
        is_exact: the twin's results were the same so far.
        gives_away: a call of it takes some of its arguments' memory.
        carried: its results that are arguments of the next call; noted while rules may veto.
    """

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self.name = getattr(function, "__name__", "function")
        self.is_mixed = False
        self.cached = -1
        self.has_twin = True
        self.is_exact = True
        self.carried = Carried()
        self._calls: Counter[Any] = Counter()  # that were captured, by what of a twin ran
        self.gives_away = any(name in options for name in ("donate_argnums", "donate_argnames"))
        self._signature = _signature_of(function)
        self._statics = Statics(self._signature, options)
        self._plans: dict[Any, Plan] = {}  # by the static arguments
        self._stale: dict[Any, Plan] = {}
        self._looked: dict[int, tuple[Any, Plan]] = {}  # by the traced program, which is kept
        self._options = options
        self._twins: dict[tuple[bool, tuple[str, ...]], Any] = {}
        self._plain: Any = None

    def plan_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Optional[Plan]:
        """What a call with these arguments does; None when it is to be looked at first."""
        return None if self.is_mixed else self._plans.get(self._statics.of(args, kwargs))

    def look(self, plain: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Plan:
        """The same, from its trace, which JAX keeps for the call."""
        traced = plain.trace(*args, **kwargs)
        looked = self._looked.get(id(traced.jaxpr))
        if looked is None:
            plan, _ = plan_and_program(traced.jaxpr, traced.out_tree, ALL_KINDS)
            if len(self._looked) >= _MAX_PLANS:
                self._looked.clear()
            looked = self._looked[id(traced.jaxpr)] = (traced.jaxpr, plan)
        plan = looked[1]
        self._heed(plan)
        key = self._statics.of(args, kwargs)
        self.is_mixed = self.is_mixed or self._stale.pop(key, plan) != plan
        if len(self._plans) >= _MAX_PLANS:
            self._plans.clear()
        self._plans[key] = plan
        return plan

    def _heed(self, plan: Plan) -> None:
        """The function does once a call what it does outside: no twin is compared with it, which would do it again."""
        self.is_exact = self.is_exact and not plan.says
        if plan.calls and plan.trains and self.has_twin:
            self.has_twin = False
            faults.say_once(f"tensors within {self.name} are not captured: it calls functions of the program's")

    def look_again(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Before the next call with such arguments."""
        key = self._statics.of(args, kwargs)
        if key in self._plans:
            self._stale[key] = self._plans.pop(key)

    def is_to_be_compared(self, kinds: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """At this captured call. Each question is one; each shape of the arguments is compiled by itself, and counted."""
        key = (self._compiled(True, kinds), tuple(map(_form_of, jax.tree_util.tree_leaves((args, kwargs)))))
        if key not in self._calls and len(self._calls) >= _MAX_SHAPES:
            self._calls.clear()
        self._calls[key] += 1
        return self._calls[key] & (self._calls[key] - 1) == 0

    def call_twin(
        self, plain: Any, kinds: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, Captured]:
        """In the function's place: its result, and the tagged values."""
        return self._call(plain, (True, self._compiled(True, kinds)), args, kwargs)  # type: ignore[no-any-return]

    def call_to_compare(
        self, plain: Any, kinds: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, Captured]:
        """The same beside the function, which is called behind it."""
        if self.gives_away:
            if _bytes_of((args, kwargs)) > _MAX_COPIED_BYTES:
                self.is_exact = False
                return None, self.call_beside(plain, kinds, args, kwargs)[0]
            args, kwargs = jax.tree_util.tree_map(_copied, (args, kwargs))
        return self.call_twin(plain, kinds, args, kwargs)

    def compare(self, result: Any, others: Any) -> None:
        """The function's result and its twin's."""
        pairs = zip(jax.tree_util.tree_leaves(result), jax.tree_util.tree_leaves(others))
        self.is_exact = self.is_exact and all(_are_same(one, other) for one, other in pairs)

    def call_beside(
        self, plain: Any, kinds: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Captured, int]:
        """The tagged values alone, and the nanoseconds that they took."""
        kinds = self._compiled(False, kinds)
        is_first = (False, kinds) not in self._twins
        begin = time.perf_counter_ns()
        captured = jax.block_until_ready(self._call(plain, (False, kinds), args, kwargs))
        return captured, 0 if is_first else max(0, time.perf_counter_ns() - begin)  # to compile is done once

    def _compiled(self, is_whole: bool, kinds: tuple[str, ...]) -> tuple[str, ...]:
        """These kinds, or more of them where that is compiled already."""
        wanted = set(kinds)
        return next((more for whole, more in self._twins if whole == is_whole and wanted <= set(more)), kinds)

    def _call(self, plain: Any, key: tuple[bool, tuple[str, ...]], args: Any, kwargs: Any) -> Any:
        twin = self._twins.get(key)
        if twin is None:
            twin = self._twins[key] = self._twin(*key)
        self._plain = plain  # the function lives no longer than without us
        try:
            return twin(*args, **kwargs)
        finally:
            self._plain = None

    def _twin(self, is_whole: bool, kinds: tuple[str, ...]) -> Any:
        """`is_whole`: with the function's own results."""

        def twin(*args: Any, **kwargs: Any) -> Any:
            traced = self._plain.trace(*args, **kwargs)
            jaxpr = traced.jaxpr if is_whole else without_saying(traced.jaxpr)
            plan, program = plan_and_program(jaxpr, traced.out_tree, kinds)
            leaves = [each for each in jax.tree_util.tree_leaves((args, kwargs)) if isinstance(each, jax.core.Tracer)]
            values = jaxpr_as_fun(program)(*leaves)
            captured = Captured(tuple(values[plan.results :]), plan)
            result = jax.tree_util.tree_unflatten(traced.out_tree, values[: plan.results])
            return (result, captured) if is_whole else captured

        twin.__name__ = twin.__qualname__ = self.name
        if self._signature is not None:
            twin.__signature__ = self._signature  # type: ignore[attr-defined]
        return _jit(twin, **self._options_of(is_whole))

    def _options_of(self, is_whole: bool) -> dict[str, Any]:
        options = dict(self._options)
        if not is_whole:
            for name in ("donate_argnums", "donate_argnames", "out_shardings"):
                options.pop(name, None)
        elif "out_shardings" in options:
            options["out_shardings"] = (options["out_shardings"], None)
        return options


class Statics:
    """Which arguments of a jitted function are static: what it does depends on their values."""

    def __init__(self, signature: Optional[inspect.Signature], options: dict[str, Any]) -> None:
        numbers, names = options.get("static_argnums"), options.get("static_argnames")
        self._numbers = {numbers} if isinstance(numbers, int) else set(numbers or ())
        self._names = {names} if isinstance(names, str) else set(names or ())
        positions = list(signature.parameters) if signature is not None else []
        self._numbers = {number % len(positions) if number < 0 and positions else number for number in self._numbers}
        if names is None:
            self._names = {positions[number] for number in self._numbers if number < len(positions)}
        elif numbers is None:
            self._numbers = {positions.index(name) for name in self._names if name in positions}

    def of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The static ones of these, as a key."""
        if not self._numbers and not self._names:
            return None
        given = tuple((number, args[number]) for number in sorted(self._numbers) if number < len(args))
        return given, tuple((name, kwargs[name]) for name in sorted(self._names) if name in kwargs)


def _form_of(leaf: Any) -> Any:
    return getattr(leaf, "shape", ()), getattr(leaf, "dtype", type(leaf))


def _copied(leaf: Any) -> Any:
    return leaf.copy() if isinstance(leaf, jax.Array) else leaf


def _bytes_of(tree: Any) -> int:
    return sum(getattr(leaf, "nbytes", 0) for leaf in jax.tree_util.tree_leaves(tree))


def _are_same(one: Any, other: Any) -> bool:
    if not (isinstance(one, jax.Array) and one.is_fully_addressable):
        return True
    if jax.dtypes.issubdtype(one.dtype, jax.dtypes.extended):
        one, other = jax.random.key_data(one), jax.random.key_data(other)
    return np.asarray(one).tobytes() == np.asarray(other).tobytes()


def _signature_of(function: Any) -> Optional[inspect.Signature]:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None
