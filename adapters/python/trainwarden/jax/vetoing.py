"""Vetoing: a jitted step that rules inside the training do not want gives back the state that it got.

What it computes is there when it has updated already. Which of its results are the new state is seen from what comes
back as arguments of its next call, and at first from what is built as an argument is. State of which the old one is not
known cannot be given back: then nobody is asked.
"""

from __future__ import annotations

import weakref
from typing import Any, Optional

import jax
import numpy as np

from . import tags
from .plans import Plan

STATE = (tags.WEIGHT, tags.STATE)  # kinds of what a step leaves for the next one
_MAX_DEPTH = 3  # of tuples in each other, in which a function gives its state


class Carried:
    """Of one function: which leaves of its results are leaves of its arguments at the next call."""

    def __init__(self) -> None:
        self._results: list[Any] = []  # of the call before, weakly
        self.arguments: dict[int, int] = {}  # the number of the argument's leaf, by that of the result's

    @property
    def is_new(self) -> bool:
        return not self._results

    def note_call(self, leaves: list[Any]) -> None:
        numbers = {id(each): number for number, each in enumerate(leaves)}
        for number, reference in enumerate(self._results):
            leaf = reference()
            if leaf is not None and id(leaf) in numbers:
                self.arguments[number] = numbers[id(leaf)]

    def note_result(self, leaves: list[Any]) -> None:
        self._results = [weakref.ref(each) if isinstance(each, jax.Array) else _nothing for each in leaves]


class Veto:
    """Of one call, which may be taken back.

    Attributes:
        is_first: no call of the function was seen before.
    """

    def __init__(self, plan: Plan, carried: Carried, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._tagged = {slot.index for slot in plan.slots if slot.kind in STATE and slot.index < plan.results}
        self._carried = carried
        self._arguments = (args, kwargs)
        self._leaves = jax.tree_util.tree_leaves((args, kwargs))
        self._state: dict[int, int] = {}  # the argument's leaf by the result's
        self.is_first = carried.is_new
        carried.note_call(self._leaves)

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """To call a function with that gives away some of them: copies, so that these stay."""
        return jax.tree_util.tree_map(_copied, self._arguments)  # type: ignore[no-any-return]

    def can_take_back(self, result: Any) -> bool:
        for state in (self._carried.arguments, self._built_alike(result)):
            if state and self._tagged <= state.keys() and self._fits(state, jax.tree_util.tree_leaves(result)):
                self._state = state
                return True
        return False

    def take_back(self, result: Any) -> Any:
        leaves, tree = jax.tree_util.tree_flatten(result)
        for number, argument in self._state.items():
            leaf = self._leaves[argument]
            leaves[number] = leaf if isinstance(leaf, jax.Array) else jax.numpy.asarray(leaf)
        return jax.tree_util.tree_unflatten(tree, leaves)

    def end(self, result: Any) -> None:
        self._carried.note_result(jax.tree_util.tree_leaves(result))

    def _fits(self, state: dict[int, int], results: list[Any]) -> bool:
        return all(
            number < len(results) and _form_of(results[number]) == _form_of(self._leaves[argument])
            for number, argument in state.items()
        )

    def _built_alike(self, result: Any) -> dict[int, int]:
        """By what a tree is built of. One array alone may be anything, unless it is tagged."""
        parts: dict[Any, list[int]] = {}
        begin = 0
        for part in [*self._arguments[0], *(value for _, value in sorted(self._arguments[1].items()))]:
            parts.setdefault(_build_of(part), []).append(begin)
            begin += len(jax.tree_util.tree_leaves(part))
        found: dict[int, int] = {}
        self._match(result, 0, parts, found, _MAX_DEPTH)
        return found

    def _match(self, part: Any, begin: int, parts: dict[Any, list[int]], found: dict[int, int], depth: int) -> None:
        count = len(jax.tree_util.tree_leaves(part))
        is_state = count > 1 or begin in self._tagged
        unused = parts.get(_build_of(part)) if count > 0 and is_state else None
        if unused:
            argument = unused.pop(0)
            found.update((begin + number, argument + number) for number in range(count))
        elif isinstance(part, (tuple, list)) and depth > 0:
            for each in part:
                self._match(each, begin, parts, found, depth - 1)
                begin += len(jax.tree_util.tree_leaves(each))


def veto_of(plan: Plan, carried: Carried, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Optional[Veto]:
    """None: a call of this plan makes more or less than one step of an optimizer."""
    is_step = plan.applies if plan.updates else plan.is_whole_step
    return Veto(plan, carried, args, kwargs) if is_step and plan.steps == 1 else None


def _nothing() -> None:
    return None


def _copied(leaf: Any) -> Any:
    return leaf.copy() if isinstance(leaf, jax.Array) else leaf


def _form_of(leaf: Any) -> Any:
    """Of the array that JAX makes of it."""
    dtype = getattr(leaf, "dtype", None)
    if isinstance(leaf, (bool, int, float, complex)):
        dtype = jax.dtypes.result_type(leaf)
    elif isinstance(dtype, np.dtype):
        dtype = jax.dtypes.canonicalize_dtype(dtype)
    return np.shape(leaf), dtype


def _build_of(tree: Any) -> Any:
    leaves, structure = jax.tree_util.tree_flatten(tree)
    return structure, tuple(map(_form_of, leaves))
