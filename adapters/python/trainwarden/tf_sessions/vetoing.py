"""Vetoing: a run of a graph that rules inside the training do not want is taken back.

Its gradients are there when it has updated already. So the variables that it may change are read before it, and written
back behind it by operations that the graph has, as those that gave them their first values, which are fed with the
values held. Nothing is added to the graph.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any, Optional

import numpy as np

from .. import faults
from ..guard import StepAdvice, may_skip, may_veto
from ..hook import Hook
from .plans import RunPlan
from .recorder import own_value
from .state import NotPossible, WritableVariable, changed_by_run
from .variables import variable_behind

# So many vetoed runs in a row, and the graph's global step counts on. Else a training that ends by it would never end.
_PATIENCE = 100

Fetch = Callable[[list[Any]], list[Any]]  # of tensors
Write = Callable[[list[Any], dict[Any, Any]], Any]  # runs operations that are fed so


class HeldVariables:
    """What a run may change, as it was before."""

    def __init__(self, variables: list[WritableVariable], fetch: Fetch) -> None:
        values = fetch([each.reading for each in variables])
        self._held = [
            (each, np.asarray(own_value(value), each.value.dtype.as_numpy_dtype))
            for each, value in zip(variables, values)
        ]

    def give_back(self, write: Write, but: Iterable[str]) -> None:
        """All but these. A tensor that several variables get is fed with one value at a time."""
        left = [(variable, value) for variable, value in self._held if variable.name not in set(but)]
        while left:
            feeds: dict[Any, Any] = {}
            writing, later = [], []
            for variable, value in left:
                reference = variable.value.ref()
                if reference in feeds:
                    later.append((variable, value))
                else:
                    feeds[reference] = value
                    writing.append(variable.writing)
            write(writing, feeds)
            left = later


class Vetoes:
    """Of one hook, whose rules may keep a step from happening. Belongs to the thread that trains."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._ways: weakref.WeakKeyDictionary[RunPlan, list[WritableVariable]] = weakref.WeakKeyDictionary()
        self._in_a_row = 0

    def hold(
        self, plan: RunPlan, session: Any, what: tuple[list[Any], list[Any], Iterable[Any]], fetch: Fetch
    ) -> Optional[HeldVariables]:
        """`what`: targets, fetches and feeds of the run, which is about to begin. None: it cannot be taken back."""
        variables = self._ways.get(plan)
        if variables is None:
            variables = self._ways[plan] = self._changed_by(session, what)
        try:
            return HeldVariables(variables, fetch) if variables else None
        except Exception as error:
            self._say_why_not(f"what it changes cannot be read before it: {faults.first_line(error)}")
            return None

    def is_vetoed(self) -> bool:
        """What is there of the run was saved: do rules object to it?"""
        is_vetoed = self._hook.judge() is not StepAdvice.PROCEED
        self._in_a_row = self._in_a_row + 1 if is_vetoed else 0
        return is_vetoed

    def take_back(self, held: HeldVariables, graph: Any, write: Write) -> bool:
        """False: that failed, as is said."""
        but: Iterable[str] = ()
        if self._in_a_row > _PATIENCE:
            faults.say_once(f"{_PATIENCE} steps in a row were vetoed: the graph's global step counts on")
            but = _global_steps(graph)
        try:
            held.give_back(write, but)
            return True
        except Exception as error:
            faults.report("take back a step that a rule vetoes", error)
            return False

    def _changed_by(self, session: Any, what: tuple[list[Any], list[Any], Iterable[Any]]) -> list[WritableVariable]:
        """Empty: it cannot be taken back, as is said once."""
        try:
            if session.sess_str:  # of a server: other processes may train the same variables
                raise NotPossible("its session is one of a cluster")
            return changed_by_run(*what)
        except NotPossible as reason:
            self._say_why_not(str(reason))
        except Exception as error:
            faults.report("see what a run of a graph changes", error)
        return []

    def _say_why_not(self, reason: str) -> None:
        end = "; they can end the training" if may_skip(self._hook) else ""
        faults.say_once(f"rules cannot veto a step of this graph ({reason}){end}")


def vetoes_of(hook: Hook) -> Optional[Vetoes]:
    """None: no rule may, or none is to, which is said."""
    if not may_veto(hook):
        return None
    if hook.world_size > 1:  # each sees a batch of its own, and would skip what the others make
        faults.say_once("rules cannot veto a step of a training with several workers")
        return None
    return Vetoes(hook)


def _global_steps(graph: Any) -> list[str]:
    from tensorflow.python.framework import ops

    behind = map(variable_behind, graph.get_collection(ops.GraphKeys.GLOBAL_STEP))
    return [operation.name for operation in behind if operation is not None]
