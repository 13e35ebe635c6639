"""Finds the space that an objective searches by running it once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Optional

from .. import errors
from . import declared
from .records import Value


def declare(objective: Callable[[Any], object]) -> dict[str, dict[str, Any]]:
    """The parameters that `objective` asks for, as create_study() takes them. Runs it once, to its end.

        study = create_study(name="digits", parameters=declare(objective), metrics=...)

    Each number is the lower end of its range then, each choice the first one. What an objective asks for only where
    another value comes is not seen: declare that yourself, with `when`. A study whose objective asks for a parameter
    that is not declared says so at once. Whatever the objective raises goes on. InvalidArgument when it asks for one
    name in two ways, or for nothing.
    """
    trial = _RecordingTrial()
    objective(trial)
    if not trial.parameters:
        raise errors.InvalidArgument("the objective asks for no parameter: expected such as trial.suggest_float()")
    return trial.parameters


class _RecordingTrial:
    """What an objective calls of a Trial; it notes what is asked for."""

    number = 0

    def __init__(self) -> None:
        self.parameters: dict[str, dict[str, Any]] = {}
        self.params: dict[str, Value] = {}

    def suggest_float(
        self, name: str, low: float, high: float, *, step: Optional[float] = None, log: bool = False
    ) -> float:
        self._note(name, _range("real", float(low), float(high), step, log))
        self.params[name] = float(low)
        return float(low)

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        self._note(name, _range("integer", low, high, None if step == 1 else step, log))
        self.params[name] = low
        return low

    def suggest_categorical(self, name: str, choices: Sequence[Value]) -> Value:
        self._note(name, {"kind": "choice", "choices": list(choices)})
        self.params[name] = choices[0]
        return choices[0]

    def report(self, *words: object, **metrics: object) -> None:
        pass

    def set_user_attr(self, key: str, value: object) -> None:
        pass

    def should_prune(self) -> bool:
        return False

    def _note(self, name: str, space: dict[str, Any]) -> None:
        before = self.parameters.setdefault(name, space)
        if before != space:
            raise errors.InvalidArgument(
                f"{name}: the objective asks for {declared.text_of(before)} and for {declared.text_of(space)}"
            )


def _range(kind: str, low: float, high: float, step: Optional[float], log: bool) -> dict[str, Any]:
    space: dict[str, Any] = {"kind": kind, "min": low, "max": high}
    if step is not None:
        space["step"] = step
    if log:
        space["log"] = True
    return space
