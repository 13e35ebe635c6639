"""Taken labels: those that a program takes out of torch in an evaluation, as `labels.tolist()` or `labels.numpy()`, with the
answers of its model: it counts the right ones in Python, in NumPy or with scikit-learn."""

from __future__ import annotations

from typing import Optional

import torch

_MAX_CLASSES = 10_000
_MAX_ANSWERS = 100_000  # of a call
_MAX_CALLS = 512
_MAX_KEPT = 1 << 20  # labels in all


class TakenLabels:
    """Of one evaluation. Which labels belong to which answers shows at its end: a program may take either first, and what it
    took before the first call was not seen."""

    def __init__(self) -> None:
        self._last: Optional[torch.Tensor] = None  # classes, by sample, that the last call gave, until they are taken
        self._classes = 0
        self._answers: list[torch.Tensor] = []  # that were taken, one for each call
        self._labels: list[torch.Tensor] = []  # what may be labels
        self._kept = 0  # of both

    def answered(self, output: torch.Tensor) -> None:
        """A model has given this."""
        self._last = None
        if output.dim() == 2 and 2 <= output.shape[1] <= _MAX_CLASSES and 2 <= output.shape[0] <= _MAX_ANSWERS:
            self._last, self._classes = output.argmax(1), output.shape[1]

    def take(self, value: torch.Tensor) -> None:
        """The program takes this out."""
        if value.device.type != "cpu" or value.layout is not torch.strided or len(self._answers) == _MAX_CALLS or self._kept > _MAX_KEPT:
            return
        value = value.detach()
        if value.is_floating_point() and value.dim() == 2:
            self._take_answers(value.argmax(1))  # of scores the answers follow
        elif value.dtype == torch.int64 and value.dim() == 1 and not self._take_answers(value):
            if self._may_be_labels(value) and len(self._labels) < _MAX_CALLS:
                self._labels.append(value.clone())
                self._kept += value.numel()

    def _take_answers(self, value: torch.Tensor) -> bool:
        last = self._last
        if last is None or value.shape != last.shape or not torch.equal(value, last.to("cpu")):
            return False
        self._answers.append(value)
        self._kept += value.numel()
        self._last = None
        return True

    def _may_be_labels(self, value: torch.Tensor) -> bool:
        return value.numel() >= 2 and self._classes > 0 and bool(value.min() >= 0) and bool(value.max() < self._classes)

    def shares(self) -> list[torch.Tensor]:
        """Of right answers, one for each call; nothing where it is not certain what belongs together."""
        answers = self._answers
        if len(self._labels) + 1 == len(answers):
            answers = answers[1:]  # the labels come first, and those of the first call were not seen
        if len(self._labels) != len(answers) or any(a.shape != b.shape for a, b in zip(answers, self._labels)):
            return []
        return [(one == other).double().mean() for one, other in zip(answers, self._labels)]
