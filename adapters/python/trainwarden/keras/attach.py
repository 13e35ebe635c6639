"""Attach: the functions that Keras makes for fit(), evaluate(), predict() and their like of single batches."""

from __future__ import annotations

import functools
import os
import threading
from typing import Any, Callable, Optional

import keras

from .. import faults
from .._spool import is_in_bucket
from .collecting import follow_loops
from .functions import CapturingStep, StepFunction
from .picking import pick_up_from_keras, replace
from .session import Session

KINDS = ("train", "test", "predict")

_session: Optional[Session] = None
_backend: Any = None
_making = threading.local()  # .caught: a list while a twin is made, which gets the step function that Keras makes


def attach(run_dir: Optional[str] = None) -> None:
    """Captures what models of this process train, evaluate and predict from now on. A second call does nothing.

    Arguments:
        run_dir: the run's folder, by default the one that TRAINWARDEN_RUN_DIR or the configuration names.

    Raises:
        RuntimeError: this version of Keras, or its backend, is not supported.
    """
    global _session, _backend
    if _session is not None:
        return
    if not hasattr(keras, "config"):
        raise RuntimeError(f"expected Keras 3 or newer, found Keras {keras.__version__}")
    if keras.config.backend() == "torch":
        return  # the adapter of PyTorch sees its models
    _backend = _backend or _backend_of_keras()
    folder = run_dir or os.environ.get("TRAINWARDEN_RUN_DIR") or None
    _session = Session(folder if folder is None or is_in_bucket(folder) else os.path.abspath(folder), _backend)
    faults.on_too_many(detach)
    follow_loops(_backend.loops_of(_session))
    pick_up_from_keras()
    _backend.pick_up()
    for kind in KINDS:
        replace(_backend.trainer, f"make_{kind}_function", functools.partial(_making_function, kind))
    if _backend.steps_in_python:
        replace(_backend.trainer, "_make_function", _making_step_function)


def detach() -> None:
    """Captures no more in this process, and ends its run."""
    global _session
    session, _session = _session, None
    follow_loops(None)
    if session is not None:
        session.close()


def _backend_of_keras() -> Any:
    name = keras.config.backend()
    if name == "tensorflow":
        from .tensorflow_backend import TensorFlowBackend

        return TensorFlowBackend()
    if name == "jax":
        from .jax_backend import JaxBackend

        return JaxBackend()
    raise RuntimeError(f"expected the backend tensorflow, jax or torch, found {name!r}")


def _run(function: StepFunction, args: tuple[Any, ...]) -> Any:
    session = _session
    return function.own(*args) if session is None else session.run(function, args)


def _making_function(kind: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """make_train_function() and its like. What Keras makes is wrapped where it keeps it, or, where the steps of one
    call are a loop in Python, within it."""
    attribute = f"{kind}_function"

    def make(self: Any, force: bool = False) -> Any:
        if _session is None or getattr(_making, "caught", None) is not None:
            return original(self, force)
        if not _backend.steps_in_python:
            result = original(self, force)
            _wrap(self, kind, attribute, original)
            return result
        _making.kind, _making.original = kind, original
        try:
            return original(self, force)
        finally:
            _making.kind = None

    return make


@faults.guarded("follow the steps of a model of Keras")
def _wrap(model: Any, kind: str, attribute: str, original: Callable[..., Any]) -> None:
    own = getattr(model, attribute)
    if own is None or isinstance(own, StepFunction):
        return
    function = StepFunction(kind, model, own, _backend, _run)
    setattr(model, attribute, function.made_by(functools.partial(_made_again, model, attribute, original)))


def _made_again(model: Any, attribute: str, original: Callable[..., Any], step: CapturingStep) -> Any:
    """The function that Keras makes of a step that stands in for the model's own; the model keeps the one it has."""
    kept = getattr(model, attribute)
    caught: list[Any] = []
    _making.caught = caught
    try:
        original(model, True)
        return caught[0] if caught else getattr(model, attribute)
    finally:
        _making.caught = None
        setattr(model, attribute, kept)


def _making_step_function(original: Callable[..., Any]) -> Callable[..., Any]:
    """JAXTrainer._make_function(step function): that one is called for each step, also where several are one call."""

    def _make_function(self: Any, step_function: Any, *args: Any, **kwargs: Any) -> Any:
        caught = getattr(_making, "caught", None)
        if caught is not None:
            caught.append(step_function)
        elif getattr(_making, "kind", None) is not None and _session is not None:
            kind = _making.kind
            followed = StepFunction(kind, self, step_function, _backend, _run)
            step_function = followed.made_by(
                functools.partial(_made_again, self, f"{kind}_function", _making.original)
            )
        return original(self, step_function, *args, **kwargs)

    return _make_function


def _forget_in_child() -> None:
    """A forked child may train, too. The run that is open here is its parent's."""
    if _session is not None:
        _session.start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
