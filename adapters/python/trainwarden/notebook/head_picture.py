"""The head view as a picture: two columns of tokens, and a line for each weight, as wide as the weight is large."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .colours import CATEGORIES
from .drawing import CHARACTER, FAINT, Drawing, readable
from .terminal import number, shade

WIDEST = 6.0  # pixels of a weight of 1, whenever it is drawn
MOST_LINES = 2000  # more of them no browser draws with ease
_ROW, _TOP, _GAP = 22.0, 64.0, 220.0


@dataclass(frozen=True)
class HeadPicture:
    """`weights` is [queries, keys]."""

    weights: Array
    queries: list[str]
    keys: list[str]
    head: int
    place: str
    notes: str

    def svg(self) -> str:
        label_width = CHARACTER * max([len(readable(text)) for text in [*self.queries, *self.keys]] + [6])
        left, right = 16 + label_width, 16 + label_width + _GAP
        width = max(right + label_width + 16, CHARACTER * (max(len(self.place), 60) + 4))
        notes = textwrap.wrap(readable(self.notes, 400), int(width / CHARACTER) - 4)
        foot = _TOP + _ROW * max(len(self.queries), len(self.keys)) + 18
        height = foot + 18 * len(notes) + 16
        drawing = Drawing(width, height, f"Attention: {self.place}", self._summary())
        drawing.text(16, 16, self.place, limit=120, font_weight="bold")
        drawing.text(left, _TOP - 18, "from", text_anchor="end", fill=FAINT)
        drawing.text(right, _TOP - 18, "to", fill=FAINT)
        omitted = self._lines(drawing, left + 6, right - 6)
        for index, text in enumerate(self.queries):
            drawing.text(left, _row(index), text, text_anchor="end")
        for index, text in enumerate(self.keys):
            drawing.text(right, _row(index), text)
        for index, note in enumerate([f"width of a line: {WIDEST:g} px x weight{omitted}", *notes]):
            drawing.text(16, foot + 18 * index, note, limit=120, fill=FAINT)
        return drawing.document()

    def _lines(self, drawing: Drawing, left: float, right: float) -> str:
        """The weakest first, so that the strong ones lie on top. The caption says what is left out."""
        order = np.argsort(self.weights, axis=None, kind="stable")
        wrong = int((~np.isfinite(self.weights)).sum())
        places = [divmod(int(place), self.weights.shape[1]) for place in order]
        seen = [(query, key) for query, key in places if self.weights[query, key] * WIDEST >= 0.005]
        shown = seen[-MOST_LINES:]
        colour = CATEGORIES[self.head % len(CATEGORIES)]
        for query, key in shown:
            weight = float(self.weights[query, key])
            drawing.line(
                left, _row(query), right, _row(key), stroke=colour, stroke_width=WIDEST * weight, stroke_opacity=0.7
            )
        words = f"; the {len(shown)} strongest of {len(seen)} lines" if len(shown) < len(seen) else ""
        return words + (f"; {wrong} weights are not finite" if wrong else "")

    def text(self) -> str:
        """A row a query: its weights as shades, and its largest ones in numbers."""
        label = max(len(readable(text, 16)) for text in self.queries)
        lines = [self.place]
        for index, text in enumerate(self.queries):
            row = self.weights[index]
            shades = "".join(shade(float(weight)) for weight in row)
            lines.append(f"{readable(text, 16):>{label}} │{shades}│ {self._strongest(row)}")
        return "\n".join([*lines, self.notes])

    def _strongest(self, row: Array) -> str:
        order = np.argsort(np.where(np.isfinite(row), row, np.inf), kind="stable")[::-1][:3]
        return ", ".join(f"{readable(self.keys[int(key)], 16)} {number(float(row[key]))}" for key in order)

    def _summary(self) -> str:
        finite = np.where(np.isfinite(self.weights), self.weights, -1.0)
        query, key = divmod(int(finite.argmax()), self.weights.shape[1])
        return (
            f"{self.weights.shape[0]} queries, {self.weights.shape[1]} keys. The largest weight, "
            f"{number(float(self.weights[query, key]))}, is from {self.queries[query]} to {self.keys[key]}."
        )


def _row(index: int) -> float:
    return _TOP + _ROW * (index + 0.5)
