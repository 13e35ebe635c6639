"""Loops of one's own over tf.GradientTape: each update, or each call of a compiled function that has some, is a step."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Optional

import tensorflow as tf

from .. import faults
from .._owners import is_owned
from .._replacing import replace
from ..steps import Cycle
from .collecting import EVERYTHING, Collector, current, loops_here
from .loop_steps import CompiledStep, UpdateStep, Weights
from .names import package_of
from .session import Session

# Of functions that were looked at whether they train: each is traced once more for that.
_MAX_FUNCTIONS = 100


def pick_up_loops() -> None:
    """Compiled functions that are called from outside."""
    from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function

    replace(Function, "__call__", _calling)


def _calling(original: Callable[..., Any]) -> Callable[..., Any]:
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        loops = loops_here()
        step = None if loops is None else loops.step_of(self, original)
        if step is None or (step.trains is False and step.loop is None):
            return original(self, *args, **kwargs)
        return loops.call(step, args, kwargs)

    return __call__


class Loops:
    """Of one session."""

    def __init__(self, session: Session, backend: Any) -> None:
        self._session = session
        self._backend = backend
        self._weights = Weights()
        self._updates = UpdateStep(self._weights)
        self._cycle: Cycle[int] = Cycle()
        self._functions: weakref.WeakKeyDictionary[Any, CompiledStep] = weakref.WeakKeyDictionary()
        self._looked_at = 0
        self._loss: Any = None  # the last that an eager tape differentiated
        self.has_optimizer = False

    def expect(self, optimizer: Any) -> None:
        """It was made, and will probably step."""
        self.has_optimizer = True
        self._weights.package = package_of(optimizer)
        self._cycle.expect(id(optimizer))

    def follows(self) -> bool:
        """Is what runs now a loop of the program's own?"""
        return self.has_optimizer and current() is None and not is_owned() and tf.executing_eagerly()

    def step_of(self, function: Any, original: Callable[..., Any]) -> Optional[CompiledStep]:
        step = self._functions.get(function)
        if step is None and self._looked_at < _MAX_FUNCTIONS:
            self._looked_at += 1
            step = self._functions[function] = CompiledStep(function, original, self._weights, self._backend)
        return step

    def call(self, step: CompiledStep, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if step.trains is None:
            names = self._session.names_of(self._weights)
            if names is not None:
                step.twin(names, EVERYTHING, args, kwargs, self._rings)
        if step.loop is not None:
            return self._session.run_loop(step.loop, (args, kwargs))
        return self._session.run(step, (args, kwargs)) if step.trains else step.own(args, kwargs)

    def _rings(self) -> Any:
        return self._backend.rings(self._session.will_want)

    @faults.guarded("note the loss of a loop of one's own")
    def differentiated(self, target: Any) -> None:
        if isinstance(target, tf.Tensor) and target.shape.rank == 0:
            self._loss = target

    @faults.guarded("follow a loop of one's own")
    def updated(self, optimizer: Any, collector: Collector) -> None:
        """An optimizer has stepped, outside of everything that is compiled."""
        has_news = [self._weights.add(*each) for each in collector.updated]
        self._updates.add(collector, any(has_news))
        if self._cycle.ends_after(id(optimizer)):
            self._end_step()

    def may_update(self, collector: Collector) -> bool:
        """By what was found before the update. False: a rule inside the training vetoes it."""
        return self._is_let(collector) is not False

    @faults.guarded("ask whether an optimizer may update")
    def _is_let(self, collector: Collector) -> bool:
        if not self._session.may_veto:
            return True
        self._updates.learn(collector)
        return self._session.may_update(self._updates, collector.found)

    @faults.guarded("begin a step of a loop of one's own")
    def collector(self, optimizer: Any) -> Optional[Collector]:
        """For an update that begins. None: nobody can be told of it."""
        if self._cycle.ends_before(id(optimizer)):
            self._end_step()
        names = self._session.names_of(self._weights)
        if names is None:
            return None
        collector = Collector(None, names, EVERYTHING, self._backend, losses=self._updates.losses)
        loss, self._loss = self._loss, None
        if loss is not None:
            collector.add_loss(loss)
        return collector

    def _end_step(self) -> None:
        self._cycle.end()
        self._session.run(self._updates, ())
