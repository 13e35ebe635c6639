"""Comparisons: what a program computes itself of the answers of its model in an evaluation, in place of a loss function:
labels that it compares, as `(output.argmax(1) == labels)`, labels that it takes out of torch to compare them there, and
differences of outputs and targets."""

from __future__ import annotations

import weakref
from typing import Any, Callable, Optional

import torch

from ... import faults
from .. import gates
from ..contents import is_plain_tensor
from ..listeners import at_work
from .numbers import is_measurable
from .taken_labels import TakenLabels

_MAX_KEPT = 4096
_LOOKED_AT = 8
_SAME = 0.5  # more than so many of them


class Comparisons:
    """Stands in torch from begin() to end(), that is during an evaluation that is looked at."""

    def __init__(self) -> None:
        self._shares: list[torch.Tensor] = []  # of equal labels, one for each comparison
        self.squares: list[torch.Tensor] = []  # mean squared differences, likewise
        self._outputs: list[torch.Tensor] = []  # what the first and the last output of a model begin with, on the CPU
        self._last: Optional[weakref.ref[torch.Tensor]] = None  # the last output, on another device
        self._is_inside = False  # a model is called: what it computes is no answer
        self._taken = TakenLabels()
        self._put: dict[str, Any] = {}

    def begin(self) -> None:
        takers = {"__eq__": self._take_labels, "eq": self._take_labels}
        takers |= {"__sub__": self._take_difference, "sub": self._take_difference}
        out = ("tolist", "numpy")
        if self._put or any(name in vars(torch.Tensor) for name in (*takers, *out)):
            return  # somebody else stands there
        for name, take in takers.items():
            self._put[name] = _comparing(getattr(torch.Tensor, name), take)
        for name in out:
            self._put[name] = _giving_out(getattr(torch.Tensor, name), self._see_taken)
        for name, ours in self._put.items():
            setattr(torch.Tensor, name, ours)

    def end(self) -> None:
        for name, ours in self._put.items():
            if vars(torch.Tensor).get(name) is ours:
                delattr(torch.Tensor, name)
        self._put = {}

    def shares(self) -> list[torch.Tensor]:
        """Of right answers."""
        return self._shares or self._taken.shares()

    def call_begins(self) -> None:
        self._is_inside = True

    def call_ends(self, output: Any) -> None:
        self._is_inside = False
        if is_measurable(output) and output.is_floating_point():
            self._taken.answered(output.detach())
            if output.device.type == "cpu":
                self._outputs = [*self._outputs[:1], _beginning(output)]
            else:
                self._last = weakref.ref(output)

    @faults.guarded("look at labels that the program compares")
    def _take_labels(self, value: Any, other: Any, result: Any) -> None:
        if _are_labels(value, other) and is_plain_tensor(result) and len(self._shares) < _MAX_KEPT:
            self._shares.append(result.detach().double().mean())

    @faults.guarded("look at labels that the program takes out of torch")
    def _see_taken(self, value: Any) -> None:
        if not self._is_inside and type(value) is torch.Tensor:
            self._taken.take(value)

    @faults.guarded("look at the errors that the program computes")
    def _take_difference(self, value: Any, other: Any, result: Any) -> None:
        if self._is_inside or len(self.squares) >= _MAX_KEPT:
            return
        if not (_are_numbers(value, other) and is_plain_tensor(result) and result.shape == value.shape):
            return
        if self._is_output(value) or self._is_output(other):
            self.squares.append(result.detach().double().square().mean())

    def _is_output(self, value: torch.Tensor) -> bool:
        """As the model gave it, or on the CPU, where comparing waits for nothing, several of them behind one another, perhaps
        clamped: what is scaled back is not what was trained."""
        if value.device.type != "cpu":
            last = self._last() if self._last is not None else None
            return last is not None and (value is last or value._base is last)
        beginning = _beginning(value)
        return any(_are_mostly_equal(each, beginning) for each in self._outputs)


def _comparing(torch_function: Any, take: Callable[[Any, Any, Any], None]) -> Any:
    def begins(*operands: Any, **options: Any) -> Any:
        return None if len(operands) != 2 or options else operands

    def ends(operands: Any, result: Any) -> None:
        with at_work():
            take(operands[0], operands[1], result)

    return gates.stand_in(torch_function, gates.Around(begins, ends))


def _giving_out(torch_function: Any, see: Callable[[Any], None]) -> Any:
    def begins(value: Any, *more: Any, **options: Any) -> None:
        with at_work():
            see(value)

    return gates.stand_in(torch_function, gates.Around(begins))


def _beginning(value: torch.Tensor) -> torch.Tensor:
    return value.detach().reshape(-1)[:_LOOKED_AT].clone()


def _are_mostly_equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return bool((one == other).double().mean() > _SAME)


def _are_labels(value: Any, other: Any) -> bool:
    return _are_alike(value, other) and value.dtype == torch.int64 and other.dtype == torch.int64


def _are_numbers(value: Any, other: Any) -> bool:
    return _are_alike(value, other) and value.is_floating_point() and value.numel() >= 2


def _are_alike(value: Any, other: Any) -> bool:
    return (
        type(value) is torch.Tensor
        and type(other) is torch.Tensor
        and value.dtype == other.dtype
        and value.shape == other.shape
        and value.dim() >= 1
        and not value.is_meta
        and value.layout is torch.strided
    )
