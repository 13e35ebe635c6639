"""Attach: runs of sessions, gradients while a graph is built, and the models of estimators are followed.

Modules of TensorFlow are taken as they are imported: the package itself is imported in parts, in an order of its own.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any, Callable, Optional

from .. import faults
from .._imports import when_imported
from .._opening import run_folder
from .._replacing import replace_known
from .callables import following_callables, following_options, saying_what_is_not_seen
from .notes import note_gradients, note_model
from .session import GraphSession

_CLIENT = "tensorflow.python.client.session"
_GRADIENTS = "tensorflow.python.ops.gradients_util"
_MONITORED = "tensorflow.python.training.monitored_session"
_HOOKS = "tensorflow.python.training.basic_session_run_hooks"
_ESTIMATOR = "tensorflow_estimator.python.estimator.estimator"

_session: Optional[GraphSession] = None


def attach(run_dir: Optional[str] = None) -> None:
    """Captures what sessions of this process train from now on. A second call does nothing.

    Arguments:
        run_dir: the folder of the run, by default the one that TRAINWARDEN_RUN_DIR or the configuration names.
    """
    global _session
    if _session is not None:
        return
    _session = GraphSession(run_folder(run_dir), detach)
    faults.on_too_many(detach)
    _replace(_CLIENT, "BaseSession", "_do_run", _following_runs)
    for name, follow in (
        ("make_callable", following_callables),
        ("_make_callable_from_options", following_options),
        ("partial_run_setup", saying_what_is_not_seen),
    ):
        _replace(_CLIENT, "BaseSession", name, functools.partial(follow, _current))
    _replace(_MONITORED, "_HookedSession", "run", _following_monitored)
    _replace(_HOOKS, "NanTensorHook", "after_run", _following_nan_hooks)
    _replace(_GRADIENTS, "", "_GradientsHelper", _following_gradients)
    _replace(_ESTIMATOR, "Estimator", "_call_model_fn", _following_models)
    _replace(_ESTIMATOR, "Estimator", "evaluate", _following_evaluations)


def _current() -> Optional[GraphSession]:
    return _session


def detach() -> None:
    """Captures no more in this process, and ends the run that is open."""
    global _session
    session, _session = _session, None
    if session is not None:
        session.close()


def _replace(module: str, owner: str, name: str, follow: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Once, as soon as the module is there. `owner` is a class in it, "": it is a function of the module's."""

    def replace() -> None:
        found = importlib.import_module(module)
        holder = getattr(found, owner) if owner else found
        replace_known(holder, name, follow)

    when_imported(module, faults.guarded(f"follow {name} of TensorFlow")(replace))


def _following_runs(original: Callable[..., Any]) -> Callable[..., Any]:
    def _do_run(self: Any, handle: Any, *what: Any, **more: Any) -> Any:
        session = _session
        if session is None or handle is not None or more or len(what) != 5:
            return original(self, handle, *what, **more)
        return session.run(original, self, *what)

    return _do_run


def _following_monitored(original: Callable[..., Any]) -> Callable[..., Any]:
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        session = _session
        if session is None:
            return original(self, *args, **kwargs)
        session.enter_monitored(self)
        try:
            return original(self, *args, **kwargs)
        finally:
            session.leave_monitored(self)

    return run


def _following_nan_hooks(original: Callable[..., Any]) -> Callable[..., Any]:
    """An estimator has one, which ends a training whose loss is no number. A batch that is left out spoils none."""

    def after_run(self: Any, run_context: Any, run_values: Any) -> Any:
        if _session is None or not _session.was_vetoed():
            return original(self, run_context, run_values)
        return None

    return after_run


def _following_gradients(original: Callable[..., Any]) -> Callable[..., Any]:
    def _GradientsHelper(ys: Any, xs: Any, *args: Any, **kwargs: Any) -> Any:
        gradients = original(ys, xs, *args, **kwargs)
        if _session is not None:
            _note_gradients(ys, xs, gradients)
        return gradients

    return _GradientsHelper


@faults.guarded("note the gradients of a graph")
def _note_gradients(targets: Any, sources: Any, gradients: Any) -> None:
    note_gradients(_listed(targets), _listed(sources), gradients)


def _listed(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _following_models(original: Callable[..., Any]) -> Callable[..., Any]:
    def _call_model_fn(self: Any, features: Any, labels: Any, mode: Any, config: Any) -> Any:
        model = original(self, features, labels, mode, config)
        if _session is not None:
            _note_model(mode, model)
        return model

    return _call_model_fn


def _following_evaluations(original: Callable[..., Any]) -> Callable[..., Any]:
    def evaluate(self: Any, *args: Any, **kwargs: Any) -> Any:
        metrics = original(self, *args, **kwargs)
        if _session is not None and isinstance(metrics, dict):
            _session.evaluated(metrics)
        return metrics

    return evaluate


@faults.guarded("note the model of an estimator")
def _note_model(mode: Any, model: Any) -> None:
    note_model(str(mode), model)


def _forget_in_child() -> None:
    """The run that is open belongs to the parent of this forked process."""
    global _session
    if _session is not None:
        _session = GraphSession(_session.run_dir, detach)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
