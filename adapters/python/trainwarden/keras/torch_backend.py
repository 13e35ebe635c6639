"""PyTorch under Keras: nothing is compiled, and what a step computes is there when it has ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Callable

import keras
import torch

from .. import faults
from .._replacing import replace
from ..hook import Hook
from ..torch import listeners
from ..torch.bridge import Bridge
from .collecting import Collector, current
from .handing import hand_out, take
from .optimizers import learning_rate_of, variables_of
from .vetoing import optimizers_of, scales_of


class HeldTensors:
    """Copies of the values of variables."""

    def __init__(self, variables: Iterable[Any]) -> None:
        different = {id(each): each for each in variables}
        self._values = [(each, each.value.detach().clone()) for each in different.values()]

    def give_back(self, result: Any) -> Any:
        with torch.no_grad():
            for variable, value in self._values:
                variable.value.copy_(value)
        return result


class TorchBackend:
    name = "torch"
    steps_in_python = False  # a call of a function is one step: Keras allows no more of them here

    def pick_up(self) -> None:
        replace(torch.Tensor, "backward", _going_backward)

    def loops_of(self, session: Any) -> None:
        return None  # they are the adapter of PyTorch's

    def unheard(self) -> Any:
        """The adapter of PyTorch hears nothing of a step meanwhile."""
        return listeners.deaf()

    def saver(self, hook: Hook) -> Callable[[int, Any], None]:
        bridge = Bridge(hook)

        def save(identity: int, value: Any) -> None:
            if isinstance(value, torch.Tensor):
                bridge.save(identity, value.detach())
            else:
                hook.save_tensor(identity, value)

        return save

    def can_follow(self, model: Any) -> bool:
        """One that is compiled is left as it is; the adapter of PyTorch sees what it can of it."""
        return not model.jit_compile

    def say_what_is_seen(self, model: Any) -> None:
        """All of it."""

    def steps_of_call(self, function: Any, args: tuple[Any, ...]) -> int:
        return 1

    def steps_so_far(self, function: Any) -> None:
        return None

    def runs_beside(self, function: Any) -> bool:
        return False

    def trace(self) -> Any:
        return None

    def is_in(self, trace: Any) -> bool:
        return True

    def as_tensor(self, value: Any) -> Any:
        """None for what is no tensor of numbers."""
        return value.detach() if isinstance(value, torch.Tensor) else None

    def flatten(self, values: Any) -> list[Any]:
        return list(keras.tree.flatten(values))

    def unscaled(self, gradient: Any, scale: Any) -> Any:
        return gradient.to(torch.float32) / scale

    def can_leave(self, value: Any, trace: Any) -> bool:
        return True

    def draws_here(self) -> bool:
        return False  # a stream of random numbers is the process's here, and no function has one of its own

    def replicas(self) -> int:
        return 1

    def hand_out(self, kind: str, result: Any, collector: Collector) -> Any:
        return hand_out(kind, result, collector)

    def take(self, kind: str, result: Any) -> tuple[Any, dict[str, Any]]:
        return take(kind, result)

    def logs(self, result: Any) -> dict[str, Any]:
        return result if isinstance(result, dict) else {}

    def set_apart(self, function: Any) -> None:
        """PyTorch counts nothing."""

    def show_compiled(self, model: Any, function: Any) -> None:
        """Nothing is compiled."""

    def batches_of_generator(self, args: tuple[Any, ...], model: Any) -> None:
        return None  # a step gets its batch

    def was_running(self, error: Exception, model: Any) -> bool:
        return True

    def trace_only(self, function: Any, args: tuple[Any, ...]) -> None:
        """Nothing is traced."""

    def hold(self, model: Any, args: tuple[Any, ...]) -> HeldTensors:
        optimizers = optimizers_of(model)
        variables = [*model.variables, *(v for each in [*model.metrics, *optimizers] for v in variables_of(each))]
        scales = {id(each) for each in scales_of(optimizers)}
        return HeldTensors(each for each in variables if id(each) not in scales)

    def weights(self, model: Any, result: Any) -> Iterator[tuple[Any, Any]]:
        for variable in model.variables:
            yield variable, variable.value

    def optimizer_state(self, model: Any, result: Any) -> Iterator[tuple[Any, Any]]:
        for variable in variables_of(model.optimizer):
            yield variable, variable.value

    def learning_rate(self, model: Any, result: Any) -> Any:
        rate = learning_rate_of(model.optimizer)
        return rate.value if hasattr(rate, "assign") else rate


def _going_backward(original: Any) -> Any:
    def backward(self: Any, *args: Any, **kwargs: Any) -> Any:
        collector = current()
        if collector is not None:
            _add_target(collector, self)
        return original(self, *args, **kwargs)

    return backward


@faults.guarded("pick up the loss of a step of one's own")
def _add_target(collector: Collector, target: Any) -> None:
    """A step that does not call compute_loss(): what it goes backward from is its loss."""
    if not collector.computes_loss and target.ndim == 0:
        collector.add_loss(target)
