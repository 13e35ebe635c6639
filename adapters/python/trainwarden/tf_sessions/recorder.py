"""Recorder: what is wanted of a run of a session, and what is kept of it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import faults
from ..hook import Hook
from .plans import RunPlan, Slot

# TensorFlow prepares a graph anew for each set of tensors that is fetched of it. After so many sets it is one for all.
_MAX_SETS = 8
_NOTHING: tuple[int, ...] = ()
_GLOBAL_STEP = "global_step"  # which estimators count among their metrics


@dataclass
class _Known:
    """The tensors of a plan in the hook."""

    computed: list[int]
    read: list[int]
    sets: list[tuple[int, ...]] = field(default_factory=list)  # of `computed`, that were fetched

    def fetched_for(self, wanted: tuple[int, ...]) -> tuple[int, ...]:
        if not wanted or wanted in self.sets:
            return wanted
        if len(self.sets) < _MAX_SETS:
            self.sets.append(wanted)
            return wanted
        return tuple(range(len(self.computed)))


@dataclass
class RunRequest:
    """What is to be had of one run."""

    plan: RunPlan
    computed: tuple[int, ...]  # places in the plan
    read: tuple[int, ...]
    values: list[Any] = field(default_factory=list)  # of those that are read
    held: Any = None  # what the run may change, where rules may veto it

    def fetches(self) -> list[Any]:
        return [self.plan.computed[place].tensor for place in self.computed]


class SessionRecorder:
    """Of one hook. Belongs to the thread that trains."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._known: weakref.WeakKeyDictionary[RunPlan, _Known] = weakref.WeakKeyDictionary()
        self._refused: set[int] = set()

    def expect(self, plan: RunPlan) -> None:
        """Before it is asked what is wanted of it, so that the hook knows what there is."""
        self._known_of(plan)

    def request(self, plan: RunPlan) -> RunRequest:
        known, wants = self._known_of(plan), self._hook.wants
        if not self._hook.wants_anything():
            return RunRequest(plan, _NOTHING, _NOTHING)
        computed = tuple(place for place, identity in enumerate(known.computed) if wants(identity))
        read = tuple(place for place, identity in enumerate(known.read) if wants(identity))
        return RunRequest(plan, known.fetched_for(computed), read)

    def read(self, request: RunRequest, fetch: Callable[[list[Any]], list[Any]]) -> None:
        """The variables as the run will find them."""
        if request.read:
            values = fetch([request.plan.read[place].tensor for place in request.read])
            request.values = [own_value(each) for each in values]

    def save(self, request: RunRequest, values: list[Any]) -> None:
        known = self._known_of(request.plan)
        self._save(((known.computed[place], value) for place, value in zip(request.computed, values)))
        self._save(((known.read[place], value) for place, value in zip(request.read, request.values)))

    def save_metrics(self, metrics: Mapping[str, Any]) -> None:
        numbers = {name: value for name, value in metrics.items() if np.ndim(value) == 0 and name != _GLOBAL_STEP}
        self._save((self._hook.declare(f"metrics/{name}", ["metrics"]), value) for name, value in numbers.items())

    def _save(self, values: Iterable[tuple[int, Any]]) -> None:
        for identity, value in values:
            if identity in self._refused or not self._hook.wants(identity):
                continue
            try:
                self._hook.save_tensor(identity, value)
            except TypeError as error:
                self._refused.add(identity)
                faults.say_once(f"a tensor of a session cannot be captured: {faults.first_line(error)}")

    def _known_of(self, plan: RunPlan) -> _Known:
        known = self._known.get(plan)
        if known is None:
            known = self._known[plan] = _Known(self._declare(plan.computed), self._declare(plan.read))
        return known

    def _declare(self, slots: Iterable[Slot]) -> list[int]:
        return [self._hook.declare(slot.name, slot.collections) for slot in slots]


def own_value(value: Any) -> Any:
    """What lies in the memory of a variable changes when the run updates that."""
    return value if not isinstance(value, np.ndarray) or value.flags.owndata else value.copy()
