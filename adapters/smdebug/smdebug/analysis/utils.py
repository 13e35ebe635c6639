"""Whether trials look for new steps, and parameters of rules that come as text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, Union

if TYPE_CHECKING:
    from ..trials.trial_steps import TrialSteps

Trials = Union["TrialSteps", "list[TrialSteps]"]
Given = TypeVar("Given", bound=Trials)


@contextmanager
def no_refresh(trials: Given) -> Iterator[Given]:
    """Inside, the trial, or each of the list, knows the steps that it knows now and no more."""
    with _refreshing(trials, False):
        yield trials


@contextmanager
def refresh(trials: Given) -> Iterator[Given]:
    """Inside, the trial, or each of the list, looks for new steps whenever it is asked."""
    with _refreshing(trials, True):
        yield trials


@contextmanager
def _refreshing(trials: Trials, wanted: bool) -> Iterator[None]:
    """What held before holds again afterwards, also when something was raised inside."""
    listed = trials if isinstance(trials, list) else [trials]
    before = [trial.dynamic_refresh for trial in listed]
    for trial in listed:
        trial.dynamic_refresh = wanted
    try:
        yield
    finally:
        for trial, held in zip(listed, before):
            trial.dynamic_refresh = held


def parse_list_from_str(arg: str | list[str] | None, delimiter: str = ",") -> list[str]:
    """A list as it is, a text split at the delimiter; nothing for None and ""."""
    if isinstance(arg, str):
        return arg.split(delimiter) if arg else []
    return arg or []


def parse_bool(arg: Any, default: bool) -> bool:
    """Of True, False, "True", "true", "False" or "false"; the default for None."""
    if arg is None:
        return default
    if arg in (True, "True", "true"):
        return True
    if arg in (False, "False", "false"):
        return False
    raise ValueError(f"expected a boolean, found {arg!r}")
