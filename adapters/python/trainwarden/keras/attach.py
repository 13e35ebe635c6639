"""Attach: to the Keras that this process has imported, 3 or 2, or to both."""

from __future__ import annotations

import importlib
import os
import re
import sys
from typing import Any, Callable, Optional

from .. import faults
from .._opening import run_folder
from .attachment import Attachment
from .collecting import follow_loops

# What a program imports Keras as. tf.keras is one of them.
_PACKAGES = ("keras", "tf_keras")
_OLDEST = (2, 15)

_Begin = Callable[[Attachment], None]

_attachments: dict[str, Attachment] = {}  # by backend


def attach(run_dir: Optional[str] = None) -> None:
    """Captures what models of this process train, evaluate and predict from now on. A second call does nothing.

    Arguments:
        run_dir: the run's folder, by default the one that TRAINWARDEN_RUN_DIR or the configuration names.

    Raises:
        RuntimeError: this version of Keras, or its backend, is not supported.
    """
    folder = run_folder(run_dir)
    faults.on_too_many(detach)
    for package in _imported():
        _attach_to(package, lambda attachment: attachment.begin(folder))


def lend(session_of: Callable[[Any], Any]) -> None:
    """Steps go to `session_of(backend)` from now on, and not to ours. For a hook that captures a training itself.

    Raises: as attach().
    """
    for package in _imported():
        _attach_to(package, lambda attachment: attachment.lend(session_of(attachment.backend)))


def detach() -> None:
    """Captures no more in this process, and ends its run."""
    follow_loops(None)
    for attachment in _attachments.values():
        attachment.close()


def _imported() -> list[Any]:
    """Who calls attach() by hand may not have imported Keras yet. One that is being imported has no version yet."""
    if not any(name in sys.modules for name in _PACKAGES):
        importlib.import_module(_PACKAGES[0])
    modules = [sys.modules.get(name) for name in _PACKAGES]
    return [module for module in modules if hasattr(module, "__version__")]


def _attach_to(package: Any, begin: _Begin) -> None:
    if hasattr(package, "config"):
        _attach_to_keras3(package, begin)
        return
    numbers = re.findall(r"\d+", package.__version__)
    if tuple(int(number) for number in numbers[:2]) < _OLDEST:
        raise RuntimeError(f"expected Keras 2.15 or newer, found Keras {package.__version__}")
    from .keras2 import pick_up_from_keras2, trainer_of

    attachment = _attachment("tensorflow")
    pick_up_from_keras2(package.__name__)
    begin(attachment)
    attachment.follow(trainer_of(package.__name__), package.callbacks.CallbackList)


def _attach_to_keras3(package: Any, begin: _Begin) -> None:
    name = package.config.backend()
    if name not in ("tensorflow", "jax", "torch"):
        raise RuntimeError(f"expected the backend tensorflow, jax or torch, found {name!r}")
    from .keras3 import pick_up_from_keras3

    attachment = _attachment(name)
    pick_up_from_keras3()
    begin(attachment)
    if name == "tensorflow":
        from keras.src.backend.tensorflow.trainer import TensorFlowTrainer as Trainer
    elif name == "jax":
        from keras.src.backend.jax.trainer import JAXTrainer as Trainer
    else:
        from keras.src.backend.torch.trainer import TorchTrainer as Trainer
    attachment.follow(Trainer, package.callbacks.CallbackList)


def _attachment(name: str) -> Attachment:
    if name not in _attachments:
        _attachments[name] = Attachment(_backend(name))
    return _attachments[name]


def _backend(name: str) -> Any:
    if name == "jax":
        from .jax_backend import JaxBackend

        return JaxBackend()
    if name == "torch":
        from .torch_backend import TorchBackend

        return TorchBackend()
    from .tensorflow_backend import TensorFlowBackend

    return TensorFlowBackend()


def _forget_in_child() -> None:
    """A forked child may train, too. The run that is open here is its parent's."""
    for attachment in _attachments.values():
        attachment.start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
