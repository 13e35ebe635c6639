"""Loggers: where other libraries take what a program logs. The same numbers go into the run; nothing is sent anywhere.

Only libraries that the program imports are touched. Where one hands on to another, as the Trainer of transformers does to
wandb, the outer one counts.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, Optional

from .. import _log
from .._imports import when_imported
from .. import faults

_Logs = tuple[Mapping[str, Any], Optional[int]]
_inside = threading.local()


class _Logger(NamedTuple):
    module: str
    owner: str  # a class of the module; "": the module itself
    function: str
    logs: Callable[..., _Logs]  # what a call with these arguments has logged


def watch_loggers() -> None:
    for logger in _LOGGERS:
        when_imported(logger.module, functools.partial(_wrap, logger))


@faults.guarded("take over what the program logs")
def _wrap(logger: _Logger) -> None:
    module: Any = sys.modules[logger.module]
    owner = getattr(module, logger.owner) if logger.owner else module
    original = getattr(owner, logger.function)

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if getattr(_inside, "a_call", False):
            return original(*args, **kwargs)
        _inside.a_call = True
        try:
            return original(*args, **kwargs)
        finally:
            _inside.a_call = False
            _take_over(logger, args, kwargs)

    setattr(owner, logger.function, call)


@faults.guarded("take over what the program has logged")
def _take_over(logger: _Logger, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    _log.hand_over(*logger.logs(*args, **kwargs))


def _of_transformers(trainer: Any, *_: Any, **__: Any) -> _Logs:
    values = dict(trainer.state.log_history[-1])
    return values, values.pop("step", None)


def _of_lightning(connector: Any, metrics: Mapping[str, Any], step: Optional[int] = None) -> _Logs:
    if step is None:
        step = connector.trainer.fit_loop.epoch_loop._batches_that_stepped
    return metrics, step


def _of_metrics(_: Any, values: Mapping[str, Any], step: Optional[int] = None, *__: Any, **___: Any) -> _Logs:
    return values, step


def _of_wandb(_: Any, data: Mapping[str, Any], step: Optional[int] = None, *__: Any, **___: Any) -> _Logs:
    return data, step


def _of_tensorboard(
    _: Any, tag: str, scalar_value: Any, global_step: Optional[int] = None, *__: Any, **___: Any
) -> _Logs:
    return {tag: scalar_value}, global_step


def _of_mlflow_metric(key: str, value: Any, step: Optional[int] = None, *_: Any, **__: Any) -> _Logs:
    return {key: value}, step


def _of_mlflow_metrics(metrics: Mapping[str, Any], step: Optional[int] = None, *_: Any, **__: Any) -> _Logs:
    return metrics, step


_LIGHTNING = "pytorch.trainer.connectors.logger_connector.logger_connector"
_LOGGERS = (
    _Logger("transformers.trainer", "Trainer", "log", _of_transformers),
    _Logger(f"lightning.{_LIGHTNING}", "_LoggerConnector", "log_metrics", _of_lightning),
    _Logger(f"pytorch_lightning.{_LIGHTNING.removeprefix('pytorch.')}", "_LoggerConnector", "log_metrics", _of_lightning),
    _Logger("accelerate.accelerator", "Accelerator", "log", _of_metrics),
    _Logger("torch.utils.tensorboard.writer", "SummaryWriter", "add_scalar", _of_tensorboard),
    _Logger("tensorboardX.writer", "SummaryWriter", "add_scalar", _of_tensorboard),
    _Logger("wandb.sdk.wandb_run", "Run", "log", _of_wandb),
    _Logger("mlflow.tracking.fluent", "", "log_metric", _of_mlflow_metric),
    _Logger("mlflow.tracking.fluent", "", "log_metrics", _of_mlflow_metrics),
)
