"""A callback for the Trainer of Lightning (`lightning` or `pytorch_lightning`, whichever the program has imported):

    from trainwarden.lightning import TrainwardenCallback

    trainer = Trainer(max_epochs=3, callbacks=[TrainwardenCallback()])
    trainer.fit(model, data)
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any, Union

from . import faults
from .torch import listeners
from .torch.callbacks import CallbackRun

__all__ = ["TrainwardenCallback"]

_PACKAGES = ("lightning.pytorch", "pytorch_lightning")


def _callback_class() -> Any:
    imported = [package for package in _PACKAGES if package in sys.modules]
    for package in imported or _PACKAGES:
        try:
            return importlib.import_module(package).Callback
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError("there is neither lightning nor pytorch_lightning: pip install lightning")


if TYPE_CHECKING:
    Callback = Any
else:
    Callback = _callback_class()


class TrainwardenCallback(Callback):  # type: ignore[misc]
    """Captures each call of `Trainer.fit` in a run of its own. Under `trainwarden run` it does nothing: all is captured.

    Arguments:
        run_dir: the run's folder; by default one in ./runs (or TRAINWARDEN_RUNS) named after the time and the class of
            the model. TRAINWARDEN_CONFIG and the other variables say what is captured.
    """

    def __init__(self, run_dir: Union[str, os.PathLike[str], None] = None) -> None:
        super().__init__()
        self._run = CallbackRun(os.fspath(run_dir) if run_dir is not None else None)

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        self._run.begin(type(pl_module).__name__, _length_of(trainer))

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        self._run.end()


def _length_of(trainer: Any) -> dict[str, str]:
    """As the program has set it. Unknown where it goes on from a checkpoint, which the trainer has not read yet; and the
    trainer is not asked for the steps of an epoch, since it would make the data loaders for that."""
    if trainer.ckpt_path is not None:
        return {}
    limits = {"total_steps": trainer.max_steps, "max_epochs": trainer.max_epochs}
    return {name: str(limit) for name, limit in limits.items() if limit is not None and limit > 0}


class CheckpointOnce(Callback):  # type: ignore[misc]
    """Saves a checkpoint of the trainer when the batch has ended: within a step its counts are not those of a whole one."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    @faults.guarded("save a checkpoint of the trainer")
    def on_train_batch_end(self, trainer: Any, *args: Any, **kwargs: Any) -> None:
        trainer.callbacks = [each for each in trainer.callbacks if each is not self]
        with listeners.unheard():
            trainer.save_checkpoint(self._file)
