"""Loops within a compiled function, an epoch or more in one call: its steps are counted when it is over.

What they compute is kept where that is asked for, by rings: these take time within the loop.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Optional

from .. import faults
from .collecting import Collector
from .optimizers import updates_of

_VARIABLE = "TRAINWARDEN_LOOP_STEPS"
_ROWS = 64


def rows_asked_for() -> int:
    """Of how many steps of a call something is to be kept."""
    text = os.environ.get(_VARIABLE, "").strip().lower()
    if text in ("", "off", "no", "false"):
        return 0
    if text in ("on", "yes", "true"):
        return _ROWS
    if text.isdecimal():
        return int(text)
    faults.say_once(f"{_VARIABLE}: expected a number of steps, on or off, found {text!r}: it is off")
    return 0


class LoopStep:
    """Calls of a tf.function with a loop of steps in it.

    Arguments:
        weights: in the place of a model.
        own, twin: call the program's function, and its twin that keeps rows; None: there is none.
        collectors: one for each time that the function was traced.
    """

    kind = "train"
    gives_logs = False

    def __init__(
        self,
        weights: Any,
        own: Callable[[Any], Any],
        twin: Optional[Callable[[Any], Any]],
        collectors: list[Collector],
    ) -> None:
        self.model = weights
        self.learnt: Optional[dict[str, tuple[str, ...]]] = {}
        self.has_news = True
        self._own = own
        self._twin = twin
        self._collectors = collectors
        self._known = 0  # collectors
        self._before: list[int] = []
        self._has_said = False
        self._look()

    def own(self, *args: Any) -> Any:
        draws = any(each.draws for each in self._collectors)  # it goes on with its stream of random numbers
        return self._own(args) if self._twin is None or not draws else self._twin(args)

    def run(self, *args: Any) -> Any:
        self._begin()
        return self._own(args) if self._twin is None else self._twin(args)

    @faults.guarded("count the steps of a loop within a compiled function")
    def _begin(self) -> None:
        self._before = [updates_of(each) for each in self._optimizers]
        for collector in self._collectors:
            if collector.rings is not None:
                collector.rings.begin_call()

    def take(self) -> tuple[int, list[Any]]:
        """How many steps the call had, and rows of the last ones."""
        self._look()
        rings = [each.rings for each in self._collectors if each.rings is not None]
        most = max(rings, key=lambda each: each.steps(), default=None)
        if most is not None and most.steps() > 0:
            rows = most.last_rows()
            self._say_what_is_lost(most.steps(), len(rows))
            return most.steps(), rows
        steps = max((updates_of(each) - before for each, before in zip(self._optimizers, self._before)), default=0)
        if steps > 0:
            self._say_what_is_missing()
        return max(0, steps), []

    def _look(self) -> None:
        """It may have been traced again, for other arguments."""
        new, self._known = self._collectors[self._known :], len(self._collectors)
        for optimizer, variables in (pair for each in new for pair in each.updated_inside):
            self.has_news = self.model.add(optimizer, variables) or self.has_news
        found = {id(pair[0]): pair[0] for each in self._collectors for pair in each.updated_inside}
        self._optimizers = list(found.values())

    def _say_what_is_missing(self) -> None:
        faults.say_once(
            "steps in a loop within a compiled function are counted, and of each call's last one the weights are seen: "
            f"{_VARIABLE}={_ROWS} keeps losses and statistics of its last {_ROWS}"
        )

    def _say_what_is_lost(self, steps: int, kept: int) -> None:
        if steps > kept and not self._has_said:
            self._has_said = True
            faults.say_once(
                f"of {steps} steps in one call the first {steps - kept} were overwritten, in further calls as well: "
                f"{_VARIABLE}={steps} keeps them"
            )
