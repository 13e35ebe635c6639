"""The hyper-parameters of a training, as a run holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union

_MAX_LABELS = 100
_MAX_CHARACTERS = 200


def as_labels(parameters: Mapping[str, Any]) -> dict[str, str]:
    """For the run: short texts."""
    texts = {name: str(value) for name, value in parameters.items()}
    short = [(name, text) for name, text in texts.items() if len(text) <= _MAX_CHARACTERS]
    return dict(short[:_MAX_LABELS])


def as_tensors(parameters: Mapping[str, Any]) -> dict[str, Union[float, list[str]]]:
    """For rules and reports: numbers where they are, texts else."""
    return {f"hyperparameters/{name}": _number_or_text(value) for name, value in parameters.items()}


def _number_or_text(value: Any) -> Union[float, list[str]]:
    try:
        return float(value)
    except (TypeError, ValueError):
        return [str(each) for each in value] if isinstance(value, (list, tuple)) else [str(value)]
