"""The values of a trial that an objective asks for by name and range while it runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Optional, Union

from .. import errors
from . import declared
from ._calls import Calls
from .records import Value

Choice = Union[None, bool, int, float, str]
NONE = "None"  # as what the choice None of an objective is kept


class AskedValues:
    """Of one trial. Where the study is open, what it does not know is added to it by the program, which says the value.

    Attributes:
        params: what exists for the objective: of an open study what it has asked for, and what the study declares.
    """

    def __init__(
        self, calls: Calls, number: int, suggested: dict[str, Value], spec: dict[str, Any], known: dict[str, Any]
    ):
        """`known`: the ranges that were asked for in this process, of all trials of the study; they are added to."""
        self._calls, self._number, self._suggested = calls, number, suggested
        self._spaces: dict[str, dict[str, Any]] = spec["parameters"]
        self._is_open, self._known = bool(spec.get("open")), known
        self._asked: set[str] = set()
        self.params: dict[str, Choice] = {
            name: value for name, value in suggested.items() if not self._is_open or self._is_declared(name)
        }

    @property
    def unused(self) -> list[str]:
        """What it had and never asked for; of a study that is not open nothing is known of that."""
        return [name for name in self._suggested if name not in self._asked] if self._is_open else []

    def number(self, name: str, asked: dict[str, Any]) -> float:
        """Of a range: {"kind", "min", "max", "step", "log"}."""
        self._check_name(name)
        value = self._value(name, {key: value for key, value in asked.items() if value is not None})
        self.params[name] = value
        assert isinstance(value, (int, float))
        return value

    def choice(self, name: str, choices: Sequence[Choice]) -> Choice:
        """One of `choices`, the very object."""
        self._check_name(name)
        plain = [_plain(name, choice) for choice in choices]
        if len(set(map(declared.key_of, plain))) < len(plain):
            raise errors.InvalidArgument(f"{name}: expected different choices, found one twice: {list(choices)}")
        value = self._value(name, {"kind": "choice", "choices": plain})
        found = [choice for choice, each in zip(choices, plain) if declared.key_of(each) == declared.key_of(value)]
        self.params[name] = found[0]
        return found[0]

    def _value(self, name: str, asked: dict[str, Any]) -> Value:
        if not self._is_open or self._is_declared(name):
            return declared.value_of(self._suggested, self._spaces, name, {"step": None, **asked})
        fits = name in self._suggested and declared.has(asked, self._suggested[name])
        if self._known.get(name) != asked or not fits:
            self._suggested[name] = self._calls.extend(self._number, name, asked)
            self._known[name] = asked
        self._asked.add(name)
        return self._suggested[name]

    def _is_declared(self, name: str) -> bool:
        return name in self._spaces and not self._spaces[name].get("optional")

    def _check_name(self, name: object) -> None:
        if not isinstance(name, str) or not name or "=" in name:
            raise errors.InvalidArgument(f"expected the name of a parameter, without =, found {name!r}")


def real_range(low: float, high: float, step: Optional[float], log: bool) -> dict[str, Any]:
    """As AskedValues.number() has it. InvalidArgument where it is none."""
    _check_range(low, high, log, step is not None)
    return {"kind": "real", "min": float(low), "max": float(high), "step": step and float(step), "log": log}


def whole_range(low: int, high: int, step: int, log: bool) -> dict[str, Any]:
    _check_range(low, high, log, step != 1)
    return {"kind": "integer", "min": int(low), "max": int(high), "step": None if step == 1 else int(step), "log": log}


def _check_range(low: float, high: float, log: bool, has_step: bool) -> None:
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise errors.InvalidArgument(f"expected a range with low <= high, found {low} and {high}")
    if log and (has_step or low <= 0):
        raise errors.InvalidArgument(f"expected low > 0 and no step of a logarithmic range, found low {low}")


def _plain(name: str, choice: object) -> Value:
    if choice is None:
        return NONE
    if isinstance(choice, (bool, int, float, str)):
        return choice
    raise errors.InvalidArgument(
        f"{name}: expected choices that are texts, numbers, True, False or None, found {type(choice).__name__}: "
        "name them by texts, and look the objects up"
    )
