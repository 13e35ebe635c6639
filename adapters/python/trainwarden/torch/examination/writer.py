"""Writer: writes what was measured into the run: numbers of a step, texts when they have changed."""

from __future__ import annotations

import json
from typing import Any, Optional

import torch

from .evaluation import Evaluation
from .memory_readings import MemoryReadings
from .numbers import Numbers, Waiting, joined, waiting
from .printed import Printed

_PREFIX = "trainwarden/examination/"
# So many looks are written together.
_MAX_LOOKS = 64


class Writer:
    """Of one hook. What light looks have seen waits here until there is enough of it, or a full one is written."""

    def __init__(self, hook: Any) -> None:
        self._hook = hook
        self._ids: dict[str, int] = {}
        self._written: dict[str, str] = {}
        self._looks: list[tuple[int, Waiting]] = []  # losses
        self._prints: list[tuple[int, Waiting]] = []  # of inputs, in full looks
        self._light_prints: list[Waiting] = []  # the same, in light ones
        self.memory = MemoryReadings()
        self.printed = Printed()
        # Of steps that were compared: did something else change weights? And was there an evaluation before them?
        self._outside: list[tuple[Waiting, bool]] = []
        self.evaluation: Optional[Evaluation] = None  # of which nothing is written yet

    @property
    def is_full(self) -> bool:
        """Is there so much that it is to be written when the step ends?"""
        return len(self._looks) >= _MAX_LOOKS or self.evaluation is not None

    @property
    def is_empty(self) -> bool:
        return not self._looks and self.evaluation is None and self.printed.is_empty

    def add_loss(self, step: int, loss: torch.Tensor) -> None:
        self._looks.append((step, waiting(loss)))

    def drop_loss(self, step: int) -> None:
        """Of a step that is none of the training's after all."""
        while self._looks and self._looks[-1][0] == step:
            self._looks.pop()

    def add_print(self, step: int, fingerprint: torch.Tensor, is_light: bool = False) -> None:
        if is_light:
            self._light_prints.append(waiting(fingerprint))
        else:
            self._prints.append((step, waiting(fingerprint)))

    def add_outside(self, have_changed: torch.Tensor, follows_evaluation: bool) -> None:
        self._outside.append((waiting(have_changed), follows_evaluation))

    @property
    def has_evaluation(self) -> bool:
        """Was an evaluation looked at that has not been written yet?"""
        return self.evaluation is not None and self.evaluation.has_seen

    def begin_again(self, training: int) -> None:
        """Another training begins: who judges from here on has read nothing yet."""
        self._looks, self._prints, self._light_prints, self.evaluation = [], [], [], None
        self.printed.take()
        self._written.clear()
        self._observe("training", torch.tensor([float(training)], dtype=torch.float64))

    def write(self, numbers: Numbers) -> None:
        """What was measured in a step, and what has waited."""
        self._add_waiting(numbers)
        self.memory.add(numbers)
        self.write_text("layout", numbers.layout())
        if not self.printed.is_empty:
            self._observe("printed", [json.dumps({"lines": self.printed.take()})])
        self._observe("numbers", numbers.tensor())

    def _add_waiting(self, numbers: Numbers) -> None:
        evaluation, self.evaluation = self.evaluation, None
        looks, self._looks = self._looks, []
        prints, self._prints = self._prints, []
        light_prints, self._light_prints = self._light_prints, []
        outside, self._outside = self._outside, []
        if evaluation is not None:
            evaluation.add(numbers)  # whole by now
        if outside:
            changed = [(float(each), follows) for each, follows in outside]
            after = [each for each, follows in changed if follows]
            numbers.add("outside", [sum(each for each, _ in changed), float(len(changed)), sum(after), float(len(after))])
        if looks:
            numbers.add("look_steps", [float(step) for step, _ in looks])
            numbers.add("looks", joined([loss for _, loss in looks]))
        if prints:
            numbers.add("print_steps", [float(step) for step, _ in prints])
            numbers.add("prints", joined([each for _, each in prints]))
        if light_prints:
            numbers.add("light_prints", joined(light_prints))

    def write_text(self, name: str, text: str) -> None:
        if self._written.get(name) != text:
            self._written[name] = text
            self._observe(name, [text])

    def has_written(self, name: str) -> bool:
        return bool(self._written.get(name))

    def _observe(self, name: str, value: Any) -> None:
        number = self._ids.get(name)
        if number is None:
            number = self._ids[name] = self._hook.declare(_PREFIX + name, ["signals"])
        self._hook.observe(number, value)
