"""Answers about a run in a folder: those of the page's server, without a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core
from ..arrays import Array
from ..errors import opening
from ..trial import Trial
from .answers import Answers, Reply
from .sources import trial_of


# From how queries and keys lie to [heads, positions, numbers] of one batch item.
_LAYOUTS: dict[str, Callable[[Array, int], Array]] = {
    "BHTD": lambda value, heads: value,
    "BTHD": lambda value, heads: value.transpose(1, 0, 2),
    "BTD": lambda value, heads: value.reshape(value.shape[0], heads, -1).transpose(1, 0, 2),
}


class RunAnswers(Answers):
    """Reads the run anew when it has news."""

    def __init__(self, trial: Trial):
        self._trial = trial
        with opening():
            self._core = _core.Answers.open(trial.path)
        self.run = self._core.run_id
        self.name = Path(trial.path).name

    def version(self) -> int:
        return self._core.version()

    def ask(self, address: str) -> Reply:
        kind, body = self._core.ask(address)
        return Reply(kind != "application/json", body)

    def vectors(self, layer: dict[str, Any], step: int, item: int) -> tuple[Array, Array] | None:
        if layer["query"] is None or layer["key"] is None:
            return None
        self._trial.refresh()
        parts = [(layer["query"]["name"], layer["heads"]), (layer["key"]["name"], layer["key_value_heads"])]
        values = [self._trial.value(name, step)[item].astype(np.float32) for name, _ in parts]
        query, key = (_LAYOUTS[layer["layout"]](value, heads) for value, (_, heads) in zip(values, parts))
        return query, key


def answers_of(source: Any) -> Answers:
    """Of a trial (ours or smdebug's) or the path of a run."""
    return RunAnswers(trial_of(source))
