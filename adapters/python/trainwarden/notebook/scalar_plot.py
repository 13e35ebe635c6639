"""ScalarPlot: numbers over steps as lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InvalidArgument, OutOfRange
from ..options import Mode
from ..trial import ModeLike
from .axes import Axis
from .colours import CATEGORIES, NOT_FINITE_HEX
from .displayed import Displayed
from .drawing import FAINT, Drawing, readable
from .sources import trial_of
from .terminal import number, sparkline

_WIDTH, _HEIGHT, _ROW = 720.0, 190.0, 18.0  # of all, of the lines' place, of a line of the legend
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 16.0, 20.0, 34.0
_DASHES = ("none", "6 3", "2 3")  # a second cue where colours come again


@dataclass(frozen=True)
class _Series:
    name: str
    steps: Array  # rising
    values: Array  # float64


class ScalarPlot(Displayed):
    """Losses, metrics, signals: one line each, over the steps of `mode`.

        ScalarPlot(trial, "loss")
        ScalarPlot(trial, ["loss", "validation_loss"], log=True)

    Values that are not finite are marked where they happened and counted; with log=True those that are not positive
    too. Long series are drawn as the range of the values in each pixel, so that no peak is lost.
    """

    def __init__(
        self, trial: Any, names: str | Sequence[str], *, mode: ModeLike = Mode.GLOBAL, log: bool = False
    ):
        self._trial = trial_of(trial)
        self.names = [names] if isinstance(names, str) else list(names)
        self.mode = Mode(mode)
        self.log = log
        if not 1 <= len(self.names) <= len(CATEGORIES):
            raise InvalidArgument(f"expected 1 to {len(CATEGORIES)} names, got {len(self.names)}")
        self._read()

    def refresh(self) -> None:
        """Takes in what was written since, and draws anew where it is shown."""
        self._trial.refresh()
        self._read()
        self._changed()

    def data(self) -> dict[str, tuple[Array, Array]]:
        """Steps (int64) and values (float64) by name."""
        return {each.name: (each.steps, each.values) for each in self._series}

    def _read(self) -> None:
        self._series = [self._series_of(name) for name in self.names]

    def _series_of(self, name: str) -> _Series:
        scalars = self._trial.tensor(name).scalars(mode=self.mode)
        if not scalars:
            raise OutOfRange(f"{name!r} has no values in mode {self.mode.value}; there are modes " + self._modes())
        steps, values = np.array(list(scalars), dtype=np.int64), np.array(list(scalars.values()), dtype=np.float64)
        return _Series(name, steps, values)

    def _modes(self) -> str:
        return ", ".join(mode.value for mode in self._trial.modes)

    def text(self) -> str:
        label = max(len(readable(name)) for name in self.names)
        lines = [(readable(each.name), sparkline(list(each.values)), _words(each)) for each in self._series]
        return "\n".join(f"{name:>{label}} {line} {words}" for name, line, words in lines)

    def svg(self) -> str:
        title = ", ".join(self.names)
        summary = "; ".join(f"{each.name}: {_words(each)}" for each in self._series)
        across, up = self._axes()
        drawing = Drawing(_WIDTH, up.begin + _BOTTOM, f"{title} over steps", summary)
        self._grid(drawing, across, up)
        for index, each in enumerate(self._series):
            colour = CATEGORIES[index % len(CATEGORIES)]
            self._line(drawing, each, across, up, colour, _DASHES[index % len(_DASHES)])
        self._legend(drawing)
        return drawing.document()

    def _drawable(self, values: Array) -> Array:
        usable: Array = np.isfinite(values)
        return usable & (values > 0) if self.log else usable

    def _axes(self) -> tuple[Axis, Axis]:
        steps = np.concatenate([each.steps for each in self._series])
        values = np.concatenate([each.values[self._drawable(each.values)] for each in self._series])
        low, high = (float(values.min()), float(values.max())) if values.size else (1.0, 1.0)
        if low == high:
            low, high = (low / 2, high * 2) if self.log else (low - 1, high + 1)
        across = Axis(float(steps.min()), float(steps.max()), _LEFT, _WIDTH - _RIGHT)
        top = _TOP + _ROW * len(self._series)  # below the legend
        return across, Axis(low, high, top + _HEIGHT, top, self.log)

    @staticmethod
    def _grid(drawing: Drawing, across: Axis, up: Axis) -> None:
        for tick in up.ticks(5):
            y = up.place(tick)
            drawing.line(_LEFT, y, _WIDTH - _RIGHT, y, stroke="#d8dee4", stroke_width=1)
            drawing.text(_LEFT - 8, y, number(tick), text_anchor="end", fill=FAINT)
        for tick in across.ticks(6):
            drawing.text(across.place(tick), up.begin + 20, f"{tick:g}", text_anchor="middle", fill=FAINT)

    def _line(self, drawing: Drawing, series: _Series, across: Axis, up: Axis, colour: str, dash: str) -> None:
        usable = self._drawable(series.values)
        for part in _unbroken(usable):
            outline = _outline(series.steps[part], series.values[part], across)
            points = [(across.place(step), up.place(value)) for step, value in outline]
            if len(points) == 1:
                drawing.rectangle(points[0][0] - 1.5, points[0][1] - 1.5, 3, 3, fill=colour)
            else:
                drawing.path(points, stroke=colour, stroke_width=1.5, stroke_dasharray=dash, stroke_linejoin="round")
        for step, value in list(zip(series.steps[~usable], series.values[~usable]))[:200]:
            x = across.place(float(step))
            note = f"{series.name}: {number(float(value))} at step {step}"
            drawing.rectangle(x - 2, up.end - 8, 4, 8, fill=NOT_FINITE_HEX, note=note)

    def _legend(self, drawing: Drawing) -> None:
        for index, each in enumerate(self._series):
            colour, dash, y = CATEGORIES[index % len(CATEGORIES)], _DASHES[index % len(_DASHES)], 14 + _ROW * index
            drawing.line(16, y, 38, y, stroke=colour, stroke_width=3, stroke_dasharray=dash)
            drawing.text(44, y, f"{readable(each.name, 40)}: {_words(each)}", limit=90)


def _unbroken(usable: Array) -> list[Array]:
    """The indices of what can be drawn, in parts without a gap."""
    indices = np.flatnonzero(usable)
    if not indices.size:
        return []
    return list(np.split(indices, np.flatnonzero(np.diff(indices) > 1) + 1))


def _outline(steps: Array, values: Array, across: Axis) -> list[tuple[float, float]]:
    """The points of a line; where several fall on one pixel, their lowest and highest in the order of the steps."""
    pixels = int(across.end - across.begin)
    if len(steps) <= 2 * pixels:
        return list(zip(steps.tolist(), values.tolist()))
    buckets = (steps - across.low) * (pixels - 1) // max(across.high - across.low, 1)
    points = []
    for part in np.split(np.arange(len(steps)), np.flatnonzero(np.diff(buckets)) + 1):
        ends = {int(part[values[part].argmin()]), int(part[values[part].argmax()])}
        points += [(float(steps[index]), float(values[index])) for index in sorted(ends)]
    return points


def _words(series: _Series) -> str:
    """"0.25 at step 900; 3 not finite"."""
    wrong = int((~np.isfinite(series.values)).sum())
    last = float(series.values[-1])
    words = f"{number(last)} at step {series.steps[-1]}"
    finite = [float(value) for value in series.values if math.isfinite(value)]
    if finite:
        words += f", lowest {number(min(finite))}"
    return words + (f", {wrong} not finite" if wrong else "")
