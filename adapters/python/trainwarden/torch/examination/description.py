"""Description: the structure of a training as it is written, and when it is to be written again."""

from __future__ import annotations

import json
import weakref
from typing import Any, Optional

from torch.optim import Optimizer

from . import loaded_files, program_calls
from .module_look import ModuleLook
from .optimizers import Optimizers
from .structure import caller_place, describe
from .subjects import Subjects

_MAX_PLACES = 32
_MAX_SHAPES = 8
# The first full examinations write it, later ones each so manieth time.
_FIRST, _EVERY = 3, 8


class Description:
    """Of one hook: what does not change from step to step."""

    def __init__(self) -> None:
        self._places: dict[str, str] = {}  # in the program, where it does what
        self._compared: list[dict[str, Any]] = []
        self._exchanged: list[dict[str, Any]] = []
        self._layers: list[str] = []
        self._resumed: Optional[dict[str, Any]] = None  # from what the training goes on
        self._last: dict[str, Any] = {}
        self._wanting: list[bool] = []  # which of the parameters that were described last wanted gradients
        self._loaded = self._placed = 0  # states and places that were described last
        # The optimizers that had never stepped when they were described last, by their numbers, and who knows of them.
        self._unstepped: list[tuple[int, weakref.ref[Optimizer]]] = []
        self._stepping: Optional[Optimizers] = None

    def begin_again(self) -> None:
        self._last = {}
        self._unstepped = []

    def note_place(self, what: str) -> None:
        """The program does this: where is the caller?"""
        if what not in self._places and len(self._places) < _MAX_PLACES:
            place = caller_place()
            if place is not None:
                self._places[what] = place

    def add_place(self, what: str, place: str) -> None:
        self._places.setdefault(what, place)

    def add_shapes(self, found: list[dict[str, Any]]) -> None:
        """Of what a loss compared."""
        for shapes in found:
            if shapes not in self._compared and len(self._compared) < _MAX_SHAPES:
                self._compared.append(shapes)

    def add_modules(self, look: ModuleLook) -> None:
        self._layers = look.names
        self._exchanged = self._exchanged or look.exchanged

    @property
    def has_news(self) -> bool:
        """Since it was written, has the program loaded a state, has it shown where it does something more, or has an
        optimizer stepped for the first time?"""
        has_stepped = any(self._has_stepped(optimizer()) for _, optimizer in self._unstepped)
        return has_stepped or self._loaded != len(program_calls.loaded) or self._placed != len(self._places)

    def _has_stepped(self, optimizer: Optional[Optimizer]) -> bool:
        return optimizer is not None and self._stepping is not None and self._stepping.has_stepped(optimizer)

    def is_due(self, fulls: int, subjects: Subjects) -> bool:
        """After so many full examinations, before this one?"""
        parameters = subjects.weights.parameters if subjects.weights is not None else []
        # Parameters came or went, or were frozen or unfrozen.
        has_changed = bool(parameters) and [each.requires_grad for each in parameters] != self._wanting
        return fulls < _FIRST or fulls % _EVERY == 0 or has_changed or self.has_news

    def _describe_steps(self, optimizers: list[dict[str, Any]]) -> None:
        for number, optimizer in self._unstepped:
            optimizers[number]["stepped"] = optimizers[number]["kind"] == "" or self._has_stepped(optimizer())
        self._unstepped = [each for each in self._unstepped if not optimizers[each[0]]["stepped"]]

    def text(self, fulls: int, subjects: Subjects, is_over: bool = False) -> str:
        """`is_over`: the training has ended."""
        weights = subjects.known_weights().parameters
        models = [each for each in subjects.models if each.module is not None]
        # The program has dropped its models, as at the end of main(), or at the end of the training its optimizers: what
        # was described stays. An optimizer may still hold the parameters.
        is_dropped = bool(self._last) and (is_over or not weights or (not models and bool(self._last["modules"])))
        described = self._last if is_dropped else describe(models, subjects.optimizers, weights)
        self._last = described
        if not is_dropped:
            self._wanting = [each.requires_grad for each in weights]
            self._stepping = subjects.stepping
            self._unstepped = [(number, weakref.ref(each)) for number, each in enumerate(subjects.optimizers)]
        self._describe_steps(described["optimizers"])
        described["places"] = self._places
        described["layers"] = self._layers
        described["compared"] = self._compared
        if fulls == 0:
            self._resumed = loaded_files.describe(subjects.optimizers)
        if self._resumed is not None:
            described["resumed"] = self._resumed
        if self._exchanged:
            described["exchanged"] = self._exchanged
        self._loaded, self._placed = len(program_calls.loaded), len(self._places)
        described["loaded"] = [each._asdict() for each in program_calls.loaded]
        return json.dumps(described)
