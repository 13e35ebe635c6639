"""TensorCard: a tensor that is not a scalar, at a glance: what it is, and its statistics at some of its steps."""

from __future__ import annotations

import math
from typing import Any

from .displayed import Displayed
from .drawing import FAINT, INK, Drawing, readable
from .terminal import number

_MOST_STEPS, _MOST_TEXTS = 8, 12
_LARGE = 1 << 22  # elements: of a larger tensor only the newest step is read
_COLUMNS = ("step", "min", "mean", "max", "std", "not finite")
_ROW, _COLUMN, _WIDTH = 20.0, 112.0, 720.0


class TensorCard(Displayed):
    """Type, shape, steps, and the statistics at up to eight steps, the newest among them; of strings the first texts.
    A tensor of a trial shows itself as one; a scalar as its line (ScalarPlot)."""

    def __init__(self, handle: Any):
        self._handle = handle

    def text(self) -> str:
        rows = self._rows()
        lines = [self._title(), *(f"  {word}" for word in self._texts())]
        if rows:
            cells = [_COLUMNS, *rows]
            widths = [max(len(row[column]) for row in cells) for column in range(len(_COLUMNS))]
            lines += ["  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in cells]
        return "\n".join(lines)

    def svg(self) -> str:
        rows, texts = self._rows(), self._texts()
        height = 40 + _ROW * (len(texts) + (len(rows) + 1 if rows else 0)) + 8
        drawing = Drawing(_WIDTH, height, self._title(), "")
        drawing.text(16, 20, self._title(), limit=94, font_weight="bold")
        y = 44.0
        for word in texts:
            drawing.text(16, y, word, limit=94)
            y += _ROW
        for index, row in enumerate([_COLUMNS, *rows] if rows else []):
            for column, cell in enumerate(row):
                ink = FAINT if index == 0 else INK
                drawing.text(_COLUMN * (column + 1), y, cell, text_anchor="end", fill=ink)
            y += _ROW
        return drawing.document()

    def _title(self) -> str:
        info, steps = self._handle.info, self._handle.steps()
        shape = " × ".join(str(size) for size in info.shape) or "a number"
        when = f"{len(steps)} steps, {steps[0]} to {steps[-1]}" if steps else "no complete step yet"
        return f"{readable(self._handle.name, 48)}: {info.dtype}, {shape}, {when}"

    def _texts(self) -> list[str]:
        """Of a tensor of strings, at its newest step."""
        steps = self._handle.steps(kept="value")
        if self._handle.info.dtype != "string" or not steps:
            return []
        texts = self._handle.value(steps[-1]).reshape(-1)
        more = " …" if texts.size > _MOST_TEXTS else ""
        return [f"step {steps[-1]}: " + " ".join(readable(str(text), 16) for text in texts[:_MOST_TEXTS]) + more]

    def _rows(self) -> list[tuple[str, ...]]:
        if self._handle.info.dtype == "string":
            return []
        return [self._row(step) for step in self._chosen(self._handle.steps())]

    def _chosen(self, steps: list[int]) -> list[int]:
        """Evenly, up to the newest."""
        most = 1 if math.prod(self._handle.info.shape) > _LARGE else _MOST_STEPS
        stride = max(1, -(-len(steps) // most))
        return steps[(len(steps) - 1) % stride :: stride] if steps else []

    def _row(self, step: int) -> tuple[str, ...]:
        found = self._handle.statistics(step)
        wrong = found.nan_count + found.inf_count
        return (str(step), *(number(each) for each in (found.min, found.mean, found.max, found.std)), str(wrong))
