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
from .arrays_document import Arrays
from .axes import Axis
from .colours import CATEGORIES, NOT_FINITE_HEX
from .displayed import Displayed
from .drawing import FAINT, Drawing, readable
from .run_answers import answers_of
from .sources import trial_of
from .tensor_ids import tensor_id_of
from .terminal import number, sparkline

_WIDTH, _HEIGHT, _ROW = 720.0, 190.0, 18.0  # of all, of the lines' place, of a line of the legend
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 16.0, 20.0, 34.0
_BUCKETS = int(_WIDTH - _LEFT - _RIGHT)  # one a pixel
_DASHES = ("none", "6 3", "2 3")  # a second cue where colours come again


@dataclass(frozen=True)
class _Series:
    """What is drawn: points, or of a long series the first, lowest, highest and last value of each bucket. A bucket
    with values that are not finite has a NaN, too."""

    name: str
    steps: Array  # global ones, rising
    values: Array  # float64
    wrong: dict[int, str]  # what is not finite, by step
    all: dict[str, Any]  # of the whole series, as the API sends it


class ScalarPlot(Displayed):
    """Losses, metrics, signals: one line each, over global steps; with `mode` those of the mode alone. Of a tensor that
    is not a scalar: the reduction that was kept, else its mean.

        ScalarPlot(trial, "loss")
        ScalarPlot(trial, ["loss", "validation_loss"], log=True)

    Values that are not finite are marked where they happened and counted; with log=True those that are not positive
    too. Long series are drawn as the range of the values in each pixel, so that no peak is lost.
    """

    def __init__(
        self, trial: Any, names: str | Sequence[str], *, mode: ModeLike = Mode.GLOBAL, log: bool = False
    ):
        self._trial = trial_of(trial)
        self._answers = answers_of(self._trial)
        self.names = [names] if isinstance(names, str) else list(names)
        self.mode = Mode(mode)
        self.log = log
        if not 1 <= len(self.names) <= len(CATEGORIES):
            raise InvalidArgument(f"expected 1 to {len(CATEGORIES)} names, got {len(self.names)}")
        self._read()

    def refresh(self) -> None:
        """Takes in what was written since, and draws anew where it is shown."""
        self._read()
        self._changed()

    def data(self) -> dict[str, tuple[Array, Array]]:
        """What is drawn, by name: global steps (float64) and values (float64). Of a long series the first, lowest,
        highest and last value of each of 628 buckets; trial.tensor(name).scalars() has them all."""
        return {each.name: (each.steps, each.values) for each in self._series}

    def _read(self) -> None:
        self._series = [self._series_of(name) for name in self.names]

    def _series_of(self, name: str) -> _Series:
        self._trial.tensor_info(name)  # NotFound says which names are near
        mode = None if self.mode is Mode.GLOBAL else self.mode.value
        while True:
            answer = self._answers.arrays("/series", tensors=tensor_id_of(name), mode=mode, buckets=_BUCKETS)
            (sent,) = answer.json("series")
            if sent["left"] == 0:  # an answer reads for a second at most
                break
        if sent["count"] == 0:
            self._trial.refresh()
            raise OutOfRange(f"{name!r} has no values in mode {self.mode.value}; there are modes " + self._modes())
        return (_of_points if sent["form"] == "points" else _of_buckets)(name, answer, sent)

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
            pairs = zip(series.steps[part].tolist(), series.values[part].tolist())
            points = [(across.place(step), up.place(value)) for step, value in pairs]
            if len(points) == 1:
                drawing.rectangle(points[0][0] - 1.5, points[0][1] - 1.5, 3, 3, fill=colour)
            else:
                drawing.path(points, stroke=colour, stroke_width=1.5, stroke_dasharray=dash, stroke_linejoin="round")
        for step, value in list(zip(series.steps[~usable], series.values[~usable]))[:200]:
            x = across.place(float(step))
            what = series.wrong.get(int(step), number(float(value)))
            note = f"{series.name}: {what} at step {step:g}"
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


def _of_points(name: str, answer: Arrays, sent: dict[str, Any]) -> _Series:
    values = answer["0.value"]
    return _Series(name, answer["0.step"], values, {}, sent)


def _of_buckets(name: str, answer: Arrays, sent: dict[str, Any]) -> _Series:
    first, last = answer["0.step"], answer["0.last_step"]
    counts = {kind: answer[f"0.{kind}"] for kind in ("nan", "positive_inf", "negative_inf")}
    wrong = sum(counts.values()) > 0
    middle = (first + last) / 2
    steps = np.stack([first, first, middle, middle, last], axis=1)
    marks = np.where(wrong, np.nan, answer["0.first"])
    values = np.stack([marks, answer["0.first"], answer["0.min"], answer["0.max"], answer["0.last"]], axis=1)
    notes = {int(step): "not finite in the steps from here on" for step in first[wrong]}
    return _Series(name, steps.ravel(), values.ravel(), notes, sent)


def _words(series: _Series) -> str:
    """"0.25 at step 900, lowest 0.1, 3 not finite"."""
    sent = series.all
    words = f"{number(float(sent['last']))} at step {sent['last_step']}"
    if sent["of"] != "scalar":
        words = f"{sent['of']} {words}"
    if math.isfinite(float(sent["min"])):
        words += f", lowest {number(float(sent['min']))}"
    wrong = sent["nan"] + sent["positive_inf"] + sent["negative_inf"]
    return words + (f", {wrong} not finite" if wrong else "")
