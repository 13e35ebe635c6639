"""The neuron view as a picture: how a query and the keys come to the weights of one head."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .colours import largest, signed_colours
from .drawing import CHARACTER, FAINT, INK, Drawing, readable
from .terminal import number

_ROW, _TOP, _GAP = 20.0, 84.0, 18.0
_NUMBER = 76.0  # pixels of a column of numbers


@dataclass(frozen=True)
class NeuronPicture:
    """One query against the keys: query [d], key and product [keys, d], the others [keys]. Rows are in the order of the
    labels, the first on top."""

    query_label: str
    keys: list[str]
    query: Array
    key: Array
    product: Array
    dot: Array
    scaled: Array
    softmax: Array
    scale: float
    place: str
    notes: str

    def svg(self) -> str:
        size = len(self.query)
        cell = min(8.0, max(1.0, 320 / size))
        labels = CHARACTER * max(len(readable(text, 20)) for text in [self.query_label, *self.keys]) + 8
        first = 16 + labels
        second = first + cell * size + _GAP
        numbers = second + cell * size + _GAP
        width = max(numbers + 3 * _NUMBER + 16, CHARACTER * (len(self.place) + 4))
        columns = int(width / CHARACTER) - 4
        notes = [line for note in (self._scales(), self._check(), self.notes) for line in textwrap.wrap(note, columns)]
        foot = _TOP + _ROW * len(self.keys) + 22
        height = foot + 18 * len(notes)
        drawing = Drawing(width, height, f"Query and keys: {self.place}", self._summary())
        drawing.text(16, 16, self.place, limit=120, font_weight="bold")
        self._vectors(drawing, first, second, cell)
        self._numbers(drawing, numbers)
        for index, text in enumerate(self.keys):
            drawing.text(first - 8, _row(index), text, limit=20, text_anchor="end")
        for index, note in enumerate(notes):
            drawing.text(16, foot + 18 * index, note, limit=columns, fill=FAINT)
        return drawing.document()

    def _vectors(self, drawing: Drawing, first: float, second: float, cell: float) -> None:
        rows, size = self.key.shape
        vectors, products = self._limits()
        drawing.text(first - 8, _TOP - 36, self.query_label, limit=20, text_anchor="end", font_weight="bold")
        drawing.pixels(
            first, _TOP - 44, cell * size, 16, signed_colours(self.query[np.newaxis, :], vectors), note="query"
        )
        drawing.text(first, _TOP - 14, "keys", fill=FAINT)
        drawing.pixels(first, _TOP, cell * size, _ROW * rows, signed_colours(self.key, vectors), note="keys")
        drawing.text(second, _TOP - 14, "query x key", fill=FAINT)
        drawing.pixels(
            second, _TOP, cell * size, _ROW * rows, signed_colours(self.product, products), note="query x key"
        )

    def _numbers(self, drawing: Drawing, left: float) -> None:
        columns = [("q·k", self.dot), ("scaled", self.scaled), ("softmax", self.softmax)]
        for column, (name, values) in enumerate(columns):
            right = left + _NUMBER * (column + 1)
            drawing.text(right - 4, _TOP - 14, name, text_anchor="end", fill=FAINT)
            limit = 1.0 if name == "softmax" else largest(values)
            for index, value in enumerate(values):
                self._bar(drawing, float(value), limit, right, index)

    def _bar(self, drawing: Drawing, value: float, limit: float, right: float, index: int) -> None:
        """A bar behind the number, orange for positive and blue for negative; the number has the sign too."""
        share = min(abs(value) / limit, 1.0) if np.isfinite(value) and limit > 0 else 0.0
        colour = "#f0c08a" if value >= 0 else "#9ec5e8"
        width = (_NUMBER - 8) * share
        if width > 0:
            drawing.rectangle(right - width, _row(index) - _ROW / 2 + 1, width, _ROW - 2, fill=colour)
        drawing.text(right - 4, _row(index), number(value), text_anchor="end", fill=INK)

    def text(self) -> str:
        label = max(len(readable(text, 16)) for text in self.keys)
        lines = [self.place, f"query {readable(self.query_label)}"]
        lines.append(f"{'':>{label}} {'q·k':>10} {'scaled':>10} {'softmax':>10}")
        for index, text in enumerate(self.keys):
            values = (self.dot[index], self.scaled[index], self.softmax[index])
            columns = " ".join(f"{number(float(value)):>10}" for value in values)
            lines.append(f"{readable(text, 16):>{label}} {columns}")
        return "\n".join([*lines, self._check(), self.notes])

    def _limits(self) -> tuple[float, float]:
        """One scale for the query and the keys, one for the products."""
        return max(largest(self.query), largest(self.key)), largest(self.product)

    def _scales(self) -> str:
        vectors, products = self._limits()
        return (
            f"blue -, white 0, orange +; up to {number(vectors)} in query and keys, {number(products)} in products; "
            f"scaled = q·k x {number(self.scale)}"
        )

    def _check(self) -> str:
        apart = np.abs(self.product.sum(axis=1, dtype=np.float64) - self.dot)
        wrong = int((~np.isfinite(self.key)).sum() + (~np.isfinite(self.query)).sum())
        note = f"; {wrong} elements are not finite" if wrong else ""
        return f"the sums of q x k are q·k within {number(float(np.nanmax(apart, initial=0.0)))}{note}"

    def _summary(self) -> str:
        weights = np.where(np.isfinite(self.softmax), self.softmax, -1.0)
        best = int(weights.argmax())
        return (
            f"Query {self.query_label} against {len(self.keys)} keys of {len(self.query)} numbers. "
            f"The largest weight, {number(float(self.softmax[best]))}, is at {self.keys[best]}."
        )


def _row(index: int) -> float:
    return _TOP + _ROW * (index + 0.5)
