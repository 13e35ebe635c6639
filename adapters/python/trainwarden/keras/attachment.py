"""Attachment: the functions that Keras makes for fit(), evaluate(), predict() and their like of single batches."""

from __future__ import annotations

import functools
import inspect
import threading
from typing import Any, Callable, Optional

from .. import faults
from .._replacing import replace
from .collecting import follow_loops
from .functions import CapturingStep, StepFunction
from .session import Session

KINDS = ("train", "test", "predict")

_making = threading.local()  # .caught: a list while a twin is made, which gets the step function that Keras makes


class Attachment:
    """Of one backend of Keras: who trains on it, and the session that all of that goes to."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self._session: Optional[Session] = None
        self._lent: Any = None  # the session of a hook that captures a training itself

    def begin(self, folder: Optional[str]) -> None:
        """Does nothing while there is a session."""
        if self._session is not None:
            return
        self._session = Session(folder, self.backend)
        loops = self.backend.loops_of(self._session)
        if loops is not None:
            follow_loops(loops)
        self.backend.pick_up()

    def lend(self, session: Any) -> None:
        """Steps go to this one, which has run() and start_anew() as ours."""
        self._lent = session
        self.backend.pick_up()

    def follow(self, trainer: Any, callback_list: Any) -> None:
        """Models of this class. `callback_list`: what Keras tells a fit() with."""
        for kind in KINDS:
            replace(trainer, f"make_{kind}_function", functools.partial(self._making_function, kind))
        replace(trainer, "evaluate", self._evaluating)
        replace(trainer, "fit", self._fitting)
        replace(callback_list, "set_params", self._setting_params)
        if self.backend.steps_in_python:
            replace(trainer, "_make_function", self._making_step_function)

    def start_anew(self) -> None:
        """In a forked child."""
        for session in (self._session, self._lent):
            if session is not None:
                session.start_anew()

    def close(self) -> None:
        """Ours. What was lent is closed by whoever it belongs to."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _run(self, function: StepFunction, args: tuple[Any, ...]) -> Any:
        session = self._current()
        return function.own(*args) if session is None else session.run(function, args)

    def _current(self) -> Any:
        return self._session if self._lent is None else self._lent

    def _making_function(self, kind: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """make_train_function() and its like. What Keras makes is wrapped where it keeps it, or, where the steps of one
        call are a loop in Python, within it."""

        def make(model: Any, force: bool = False) -> Any:
            if self._current() is None or getattr(_making, "caught", None) is not None:
                return original(model, force)
            if not self.backend.steps_in_python:
                result = original(model, force)
                self._wrap(model, kind, original)
                return None if result is None else getattr(model, f"{kind}_function")  # Keras 2 keeps what it gets
            _making.kind, _making.original = kind, original
            try:
                return original(model, force)
            finally:
                _making.kind = None

        return make

    def _evaluating(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """evaluate(), as fit() calls it at the end of an epoch."""

        def evaluate(model: Any, *args: Any, **kwargs: Any) -> Any:
            session = self._session
            if session is None or self._lent is not None or not kwargs.get("_use_cached_eval_dataset"):
                return original(model, *args, **kwargs)
            with session.validating(model) as results:
                logs = original(model, *args, **kwargs)
                if isinstance(logs, dict):
                    results.update(logs)
            return logs

        return evaluate

    def _fitting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """fit(), which knows how long it is to be."""
        signature = inspect.signature(original)

        def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
            session = self._session
            if session is None:
                return original(model, *args, **kwargs)
            with session.fitting(_first_epoch(signature, model, args, kwargs) or 0):
                return original(model, *args, **kwargs)

        return fit

    def _setting_params(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Of a list of callbacks."""

        def set_params(callbacks: Any, params: Any) -> Any:
            if self._session is not None and params:
                self._session.fit_is_to_have(params)
            return original(callbacks, params)

        return set_params

    @faults.guarded("follow the steps of a model of Keras")
    def _wrap(self, model: Any, kind: str, original: Callable[..., Any]) -> None:
        attribute = f"{kind}_function"
        own = getattr(model, attribute)
        if own is None or isinstance(own, StepFunction) or not self.backend.can_follow(model):
            return
        if kind == "train":
            self.backend.say_what_is_seen(model)
        function = StepFunction(kind, model, own, self.backend, self._run)
        setattr(model, attribute, function.made_by(functools.partial(_made_again, model, attribute, original)))

    def _making_step_function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """JAXTrainer._make_function(step function): that one is called for each step, also where several are one
        call."""

        def _make_function(model: Any, step_function: Any, *args: Any, **kwargs: Any) -> Any:
            caught = getattr(_making, "caught", None)
            if caught is not None:
                caught.append(step_function)
            elif getattr(_making, "kind", None) is not None and self._current() is not None:
                kind = _making.kind
                followed = StepFunction(kind, model, step_function, self.backend, self._run)
                step_function = followed.made_by(
                    functools.partial(_made_again, model, f"{kind}_function", _making.original)
                )
            return original(model, step_function, *args, **kwargs)

        return _make_function


@faults.guarded("look at the arguments of fit()")
def _first_epoch(signature: inspect.Signature, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    try:
        return int(signature.bind(model, *args, **kwargs).arguments.get("initial_epoch") or 0)
    except TypeError:
        return 0  # Keras says what is wrong with the call


def _made_again(model: Any, attribute: str, original: Callable[..., Any], step: CapturingStep) -> Any:
    """The function that Keras makes of a step that stands in for the model's own; the model keeps the one it has."""
    compiled = attribute.replace("_function", "_tf_function")  # where Keras 2 keeps the compiled one as well
    kept = {name: getattr(model, name) for name in (attribute, compiled) if hasattr(model, name)}
    caught: list[Any] = []
    _making.caught = caught
    try:
        original(model, True)
        return caught[0] if caught else getattr(model, attribute)
    finally:
        _making.caught = None
        for name, function in kept.items():
            setattr(model, name, function)
