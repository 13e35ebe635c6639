"""Vetoing: a step that rules inside the training do not want is taken back.

What a compiled step computes is there when it has updated already. So what it may change is held before it runs, and
given back behind it. Values of TensorFlow are copied when they are overwritten, while somebody holds them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable, Optional, Protocol

from .. import faults

# Of a scaled loss: a batch that is too large for the scale makes it smaller, whoever vetoes the step. Those of Keras 3
# are the optimizer's own; those of Keras 2 its _loss_scale's.
_OF_SCALES = ("step_counter", "dynamic_scale", "counter", "current_loss_scale")


class Held(Protocol):
    """What a step may change, as it was before."""

    def give_back(self, result: Any) -> Any:
        """Takes the step back. The result of the step as it is then."""


class Veto:
    """Of one step that may be taken back."""

    def __init__(self, hold: Callable[[], Optional[Held]]) -> None:
        self._hold = hold
        self._held: Optional[Held] = None

    @faults.guarded("hold what a step may change")
    def begin(self) -> None:
        """To be called when everything is made that the step changes, and it has not run."""
        self._held = self._hold()

    @property
    def is_possible(self) -> bool:
        return self._held is not None

    def give_up(self) -> None:
        """More is changed than was held."""
        self._held = None

    def take_back(self, result: Any) -> Any:
        held, self._held = self._held, None
        try:
            return result if held is None else held.give_back(result)
        except Exception as error:
            faults.report("take back a step that a rule vetoes", error)
            return result


def optimizers_of(model: Any) -> list[Any]:
    """The model's own first, then those of a step of one's own."""
    found = [model.optimizer] if model.optimizer is not None else []
    for each in vars(model).values():
        if hasattr(each, "apply_gradients") and all(each is not other for other in found):
            found.append(each)
    return found


def scales_of(optimizers: Iterable[Any]) -> list[Any]:
    """Variables of theirs that are not given back."""
    holders = [holder for optimizer in optimizers for holder in (optimizer, getattr(optimizer, "_loss_scale", None))]
    found = [getattr(holder, name, None) for holder in holders for name in _OF_SCALES]
    return [each for each in found if hasattr(each, "assign")]


def make_variables(model: Any) -> bool:
    """Those of the optimizer, as its first step would make them. False: some are made by the first step alone."""
    if not model.built:
        return False
    optimizer = model.optimizer
    if optimizer is not None and getattr(optimizer, "built", None) is False:
        from keras.src.backend import name_scope  # only Keras 3 has such optimizers

        with name_scope(optimizer.name, caller=optimizer):
            optimizer.build(model.trainable_variables)
        optimizer.built = True
    return all(map(_is_built, optimizers_of(model)))


def _is_built(optimizer: Any) -> bool:
    """The older kinds of Keras 2 say it by other names."""
    held = getattr(optimizer, "_optimizer", optimizer)
    return any(getattr(held, name, None) is True for name in ("built", "_built", "_hypers_created"))
