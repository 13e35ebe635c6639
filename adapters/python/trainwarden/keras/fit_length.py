"""FitLength: how many steps a fit() is to have, which the run has as its label total_steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Optional

from .. import faults


class FitLength:
    """Of the fit() that runs now, if one does."""

    def __init__(self) -> None:
        self._first_epoch: Optional[int] = None  # None: no fit() runs
        self._epochs = 0
        self._batches: Optional[int] = None  # of an epoch; None: not known

    @contextmanager
    def fitting(self, first_epoch: int) -> Iterator[None]:
        before = (self._first_epoch, self._epochs, self._batches)
        self._first_epoch, self._epochs, self._batches = first_epoch, 0, None
        try:
            yield
        finally:
            self._first_epoch, self._epochs, self._batches = before

    @faults.guarded("learn how long a fit() of Keras is to be")
    def learn(self, params: Mapping[str, Any]) -> None:
        """What Keras tells its callbacks when fit() begins: "epochs", and "steps" where it knows them."""
        epochs, batches = params.get("epochs"), params.get("steps")
        if self._first_epoch is not None and self._batches is None and epochs and batches:
            self._epochs, self._batches = int(epochs), int(batches)

    def labels(self) -> dict[str, str]:
        if self._first_epoch is None or self._batches is None:
            return {}
        total = (self._epochs - self._first_epoch) * self._batches
        return {"total_steps": str(total)} if total > 0 else {}
