"""Taps on a tape of TensorFlow, and on the layers that are called while it records."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from typing import Any, Optional, Protocol

import tensorflow as tf
from trainwarden import faults
from trainwarden.keras.collecting import ACTIVATIONS, Collector, collecting
from trainwarden.keras.tensorflow_backend import TensorFlowBackend

from .keras_steps import Names


class TapeHook(Protocol):
    """The hook, as a tape sees it."""

    is_saving: bool

    def begin_step(self) -> None:
        """Raises for wrong usage, at the first step, and when the training was asked to stop."""

    def begin_layers(self) -> None: ...

    def end_layers(self) -> None: ...

    def save_tape(self, target: Any, sources: list[Any], gradients: list[Any]) -> None: ...


class TapeTap:
    """On one tape. A step begins where it begins to record, and again after it was asked for gradients."""

    def __init__(self, hook: TapeHook) -> None:
        self._hook = hook
        self._has_begun = False

    def wrap(self, tape: Any) -> None:
        """In the tape itself: others are left alone. It must not hold itself: what it has recorded is large."""
        for name, run in (("_push_tape", self._push), ("_pop_tape", self._pop), ("gradient", self._gradient)):
            setattr(tape, name, functools.partial(run, weakref.ref(tape)))

    def _push(self, tape: Any) -> None:
        type(tape())._push_tape(tape())
        if not tf.executing_eagerly():
            return  # a function that is compiled: this runs once, and computes nothing
        if not self._has_begun:
            self._has_begun = True
            self._hook.begin_step()
        self._hook.begin_layers()

    def _pop(self, tape: Any) -> None:
        self._hook.end_layers()
        type(tape())._pop_tape(tape())

    def _gradient(self, tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
        gradients = type(tape()).gradient(tape(), target, sources, *args, **kwargs)
        if self._hook.is_saving and tf.executing_eagerly():
            self._hook.save_tape(target, tf.nest.flatten(sources), _flat(gradients))
        self._has_begun = False
        return gradients


def _flat(gradients: Any) -> list[Any]:
    """None and the rows of an embedding's gradient are each one."""
    return list(tf.nest.flatten(gradients, expand_composites=False))


class LayerTap:
    """On the layers of a registered model, between begin() and end()."""

    def __init__(self) -> None:
        self.model: Any = None
        self._collector: Optional[Collector] = None
        self._open: Any = None

    @faults.guarded("note what layers of Keras compute")
    def begin(self) -> None:
        """Again after end(), as where a tape stops to record for a while: what was noted stays."""
        if self.model is None or self._open is not None:
            return
        names: Any = Names()
        if self._collector is None:
            self._collector = Collector(self.model, names, frozenset({ACTIVATIONS}), TensorFlowBackend())
        self._open = collecting(self._collector)
        self._open.__enter__()

    def end(self) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            opened.__exit__(None, None, None)

    def forget(self) -> None:
        self._collector = None

    def found(self) -> Iterator[tuple[str, Any]]:
        """What was noted since the last time."""
        collector, self._collector = self._collector, None
        if collector is not None:
            yield from collector.found.items()
