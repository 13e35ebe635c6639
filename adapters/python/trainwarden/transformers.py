"""A callback for the Trainer of transformers, and so for the trainers of TRL:

    from trainwarden.transformers import TrainwardenCallback

    trainer = Trainer(model, arguments, train_dataset=data, callbacks=[TrainwardenCallback()])
    trainer.train()
"""

from __future__ import annotations

import os
from typing import Any, Optional, Union

from transformers import TrainerCallback

from .torch.callbacks import CallbackRun

__all__ = ["TrainwardenCallback"]


class TrainwardenCallback(TrainerCallback):  # type: ignore[misc]
    """Captures each call of `Trainer.train` in a run of its own. Under `trainwarden run` it does nothing: all is captured.

    Arguments:
        run_dir: the run's folder; by default one in ./runs (or TRAINWARDEN_RUNS) named after the time and the
            training's `run_name`. TRAINWARDEN_CONFIG and the other variables say what is captured.
    """

    def __init__(self, run_dir: Union[str, os.PathLike[str], None] = None) -> None:
        self._run = CallbackRun(os.fspath(run_dir) if run_dir is not None else None)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._run.begin(_name_of(args), _length_of(state))

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._run.end()


def _length_of(state: Any) -> dict[str, str]:
    """The steps of this call: a training that goes on from a checkpoint has done some of them."""
    left = state.max_steps - state.global_step
    return {"total_steps": str(left)} if left > 0 else {}


def _name_of(args: Any) -> str:
    """Until transformers 4.57 a run without a name had that of its folder."""
    name: Optional[str] = getattr(args, "run_name", None) or getattr(args, "output_dir", None)
    return os.path.basename(name.rstrip("/")) if name else "trainer"
