"""Trainers: loops of libraries that run a training: what they are doing, and how each is asked to end it so that its
work is kept, and to save what it can resume from.

They are looked for on the stack, when somebody wants to know and not before: nothing of theirs is changed. An exception
would pass through them as a crash does, without a last checkpoint and without what they call at the end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple, Optional

from .frames import frames, variables_of


class _Library(NamedTuple):
    name: str
    trainers: tuple[str, ...]  # names of the classes that run the loop; classes made of them count too
    stop: Callable[[Any], None]
    save: Callable[[Any, str], str]  # with the path of a file beside which one may be written; says where it will be


def ask_to_stop() -> Optional[str]:
    """Asks the trainer in whose loop the caller is; gives the name of its library, or None when there is none."""
    for trainer, library in _running():
        library.stop(trainer)
        return library.name
    return None


def ask_to_save(beside: str) -> Optional[str]:
    """Asks the trainer in whose loop the caller is for a checkpoint of its own at the end of its step. Says what it will
    do, or None when there is no trainer, or several processes train: they would have to save together.
    """
    for trainer, library in _running():
        if getattr(trainer, "args", trainer).world_size > 1:
            return None
        return f"the trainer of {library.name} saves {library.save(trainer, beside)} too, and can resume from there"
    return None


def is_trial_run() -> bool:
    """Does a trainer only try its evaluation, before the training begins?"""
    if sys.modules.keys().isdisjoint(("lightning.pytorch", "pytorch_lightning")):
        return False
    return any(bool(getattr(trainer, "sanity_checking", False)) for trainer, _ in _running())


def _running() -> Iterator[tuple[Any, _Library]]:
    """The trainers in whose loops the caller is, the innermost first."""
    for frame in frames():
        trainer = variables_of(frame).get("self")
        library = _library_of(type(trainer)) if trainer is not None else None
        if library is not None:
            yield trainer, library


def _library_of(kind: type) -> Optional[_Library]:
    names = {f"{each.__module__}.{each.__name__}" for each in kind.__mro__}
    return next((library for library in _LIBRARIES if not names.isdisjoint(library.trainers)), None)


def _stop_transformers(trainer: Any) -> None:
    """It looks at this at the end of its step, and writes a checkpoint where its arguments want any."""
    trainer.control.should_training_stop = True
    if str(getattr(trainer.args.save_strategy, "value", trainer.args.save_strategy)) != "no":
        trainer.control.should_save = True


def _stop_lightning(trainer: Any) -> None:
    """It ends the epoch, with its callbacks, and the training. Before `min_steps` and `min_epochs` it does not."""
    trainer.should_stop = True


def _save_transformers(trainer: Any, beside: str) -> str:
    trainer.control.should_save = True
    return f"a checkpoint in {trainer.args.output_dir}"


def _save_lightning(trainer: Any, beside: str) -> str:
    from ..lightning import CheckpointOnce

    file = os.path.splitext(beside)[0] + ".ckpt"
    trainer.callbacks = [*trainer.callbacks, CheckpointOnce(file)]
    return file


_LIBRARIES = (
    _Library("transformers", ("transformers.trainer.Trainer",), _stop_transformers, _save_transformers),
    _Library(
        "Lightning",
        ("lightning.pytorch.trainer.trainer.Trainer", "pytorch_lightning.trainer.trainer.Trainer"),
        _stop_lightning,
        _save_lightning,
    ),
)
