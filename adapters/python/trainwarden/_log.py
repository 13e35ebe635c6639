"""log(): numbers that a program wants to have beside what is captured of it. Knows nothing of torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, Optional

# Takes names and numbers, and the step that the program counts.
Sink = Callable[[Mapping[str, Any], Optional[int]], None]

_sink: Optional[Sink] = None


def log(name: str, value: Any, *, step: Optional[int] = None) -> None:
    """Saves a number in the run that captures this program. Does nothing, and costs nothing, where there is none.

    It belongs to the step that is open when it is logged; of a name that comes several times the last counts. It never raises: what is no number is passed over.

    Arguments:
        name: of the series, such as "accuracy".
        value: a number, or a tensor or an array with one element. One on a GPU is waited for, as by `item()`.
        step: the step as the program counts it, saved beside it as `trainwarden/trainer_step`.
    """
    hand_over({name: value}, step)


def hand_over(values: Mapping[str, Any], step: Optional[int]) -> None:
    """The same with several numbers."""
    if _sink is not None:
        _sink(values, step)


def send_to(sink: Sink) -> None:
    """From now on what is logged goes there. `sink` must not raise."""
    global _sink
    _sink = sink
