"""Handing out: what was picked up of a step goes beside its result, and is taken from there before anybody sees it."""

from __future__ import annotations

from typing import Any

from .collecting import Collector

# Sorted behind all names of metrics: Keras 2 has its counter of batches wait for the first result, and TensorFlow fuses
# other operations, with other last bits, where that is another one.
_FOUND = "~trainwarden"
_RESULT = "trainwarden_result"


def hand_out(kind: str, result: Any, collector: Collector) -> Any:
    """What the step gives in place of its result: the logs of a batch, or predictions."""
    if kind == "predict":
        return {_RESULT: result, _FOUND: dict(collector.found)}
    return {**result, _FOUND: dict(collector.found)} if isinstance(result, dict) else result


def take(kind: str, result: Any) -> tuple[Any, dict[str, Any]]:
    """The result as the program's own step gives it, and what was handed out."""
    if not isinstance(result, dict) or _FOUND not in result:
        return result, {}
    found = dict(result.pop(_FOUND))
    return (result[_RESULT] if kind == "predict" else result), found
