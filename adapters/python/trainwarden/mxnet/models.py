"""Models: the blocks whose parameters a Trainer trains. What else is called, as transforms of data are, is no model."""

from __future__ import annotations

import weakref
from typing import Any


class Models:
    def __init__(self) -> None:
        self._trainers: dict[int, weakref.ref[Any]] = {}  # by id: a program's own may not be hashable
        self._parameters: dict[int, weakref.ref[Any]] = {}  # that are trained
        self._known: dict[int, bool] = {}  # by the block's id: is it one?

    def add(self, trainer: Any) -> None:
        known = self._trainers.get(id(trainer))
        if known is not None and known() is trainer:
            return
        self._trainers[id(trainer)] = weakref.ref(trainer)
        self._known.clear()
        for parameter in trainer._params:
            self._parameters[id(parameter)] = weakref.ref(parameter)

    def trainers(self) -> list[Any]:
        found = ((number, each()) for number, each in self._trainers.items())
        self._trainers = {number: weakref.ref(each) for number, each in found if each is not None}
        return [each for each in (each() for each in self._trainers.values()) if each is not None]

    def has(self, block: Any) -> bool:
        """Has the block, or one in it, a parameter that is trained?"""
        if not self._parameters:
            return False
        known = self._known.get(id(block))
        if known is None:
            known = self._known[id(block)] = self._is_trained(block)
            # As long as the block lives: another one may get its id.
            weakref.finalize(block, self._known.pop, id(block), None).atexit = False
        return known

    def _is_trained(self, block: Any) -> bool:
        # Not by collect_params(), which may warn.
        return any(map(self._knows, block.params.values())) or any(map(self._is_trained, block._children.values()))

    def _knows(self, parameter: Any) -> bool:
        reference = self._parameters.get(id(parameter))
        return reference is not None and reference() is parameter
