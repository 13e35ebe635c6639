"""Keras 2, of TensorFlow up to 2.15 and as the package tf_keras: where it has the functions that are stood in for."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Callable

from .. import faults
from .._replacing import replace
from .collecting import Collector, current
from .picking import add_batch, calling_layer, computing_loss, making_optimizer, watched_update


def trainer_of(package: str) -> Any:
    """Whose models are followed: those of TensorFlow 2. Models of graphs, behind disable_eager_execution(), are not."""
    return _module(package, "engine.training").Model


def pick_up_from_keras2(package: str) -> None:
    """`package`: "keras" or "tf_keras"."""
    replace(_module(package, "engine.base_layer").Layer, "__call__", calling_layer)
    replace(trainer_of(package), "compute_loss", computing_loss)
    replace(_module(package, "engine.compile_utils").LossesContainer, "__call__", _calling_losses)
    newer = _module(package, "optimizers.optimizer")
    older = _module(package, "optimizers.legacy.optimizer_v2")
    scaling = _module(package, "mixed_precision.loss_scale_optimizer")
    for optimizer in (newer._BaseOptimizer, older.OptimizerV2):
        replace(optimizer, "__init__", making_optimizer)
    for optimizer in (
        newer._BaseOptimizer, newer.Optimizer, older.OptimizerV2,
        scaling.LossScaleOptimizer, scaling.LossScaleOptimizerV3,
    ):  # fmt: skip
        replace(optimizer, "apply_gradients", _applying)


def _calling_losses(original: Callable[..., Any]) -> Callable[..., Any]:
    """Model.compiled_loss(labels, predictions), which a step of one's own may call in place of compute_loss()."""

    def __call__(self: Any, y_true: Any, y_pred: Any, *args: Any, **kwargs: Any) -> Any:
        loss = original(self, y_true, y_pred, *args, **kwargs)
        collector = current()
        if collector is not None and collector.depth_of_losses == 0:
            _add_compiled_loss(collector, loss, y_true, y_pred)
        return loss

    return __call__


@faults.guarded("pick up the loss of Keras")
def _add_compiled_loss(collector: Collector, loss: Any, labels: Any, predictions: Any) -> None:
    if collector.is_here():
        collector.spare_loss = loss
        add_batch(collector, {"y": labels, "y_pred": predictions})


def _module(package: str, name: str) -> Any:
    return importlib.import_module(f"{package}.src.{name}")


def _applying(original: Callable[..., Any]) -> Callable[..., Any]:
    """One that scales losses has divided gradients by the scale before."""

    def apply_gradients(self: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        pairs = list(grads_and_vars)
        update = functools.partial(original, self, pairs, *args, **kwargs)
        result = watched_update(self, [pair[0] for pair in pairs], [pair[1] for pair in pairs], update)
        return self.iterations if result is None else result

    return apply_gradients
