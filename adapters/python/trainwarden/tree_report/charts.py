"""The pictures of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

from ..notebook.axes import Axis
from .svg import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Svg, number

COLOURS = 6  # series that can be told apart
_BAR = 22.0
_CELL = 18.0

Points = tuple[Sequence[float], Sequence[Optional[float]]]


def lines(name: str, series: Mapping[str, Points], below: str, beside: str, *, square: bool = False) -> str:
    """Each a line of its own colour and dashes, with its name in the legend above. `square`: both axes from 0 to 1."""
    width = 420.0 if square else WIDTH
    height = 380.0 if square else HEIGHT
    top = TOP + 26 + 20 * ((len(series) + 2) // 3)
    xs = [x for across, _ in series.values() for x in across]
    ys = [y for _, up in series.values() for y in up if y is not None]
    low, high = (0.0, 1.0) if square or not ys else _room(min(ys), max(ys))
    begin, end = (0.0, 1.0) if square or not xs else (min(xs), max(xs))
    across, up = Axis(begin, end, LEFT, width - RIGHT), Axis(low, high, height - BOTTOM, top)
    picture = Svg(width, height, name)
    picture.frame(across, up, below, beside)
    for place, (label, (places, values)) in enumerate(series.items()):
        kind = f"series s{place % COLOURS}"
        x, y = LEFT + (place % 3) * (width - LEFT) / 3, TOP + 20 * (place // 3)
        picture.line(x, y, x + 24, y, kind)
        picture.text(x + 30, y + 4, label, "label", 22)
        for part in _unbroken(places, values):
            points = [(across.place(step), up.place(value)) for step, value in part]
            if len(points) == 1:
                picture.dot(*points[0], f"dot s{place % COLOURS}", f"{label}: {number(part[0][1])}")
            else:
                picture.path(points, kind, label)
    return picture.document()


def _unbroken(steps: Sequence[float], values: Sequence[Optional[float]]) -> list[list[tuple[float, float]]]:
    parts: list[list[tuple[float, float]]] = [[]]
    for step, value in zip(steps, values):
        if value is None:
            parts.append([])
        else:
            parts[-1].append((step, value))
    return [part for part in parts if part]


def _room(low: float, high: float) -> tuple[float, float]:
    margin = (high - low) * 0.05 or max(abs(high), 1) * 0.05
    return low - margin, high + margin


def bars(name: str, parts: Mapping[str, float], form: str = "{:.4g}") -> str:
    """Lying bars, each with its number."""
    height = _BAR * len(parts) + 8
    picture = Svg(WIDTH, height, name)
    most = max([*parts.values(), 0.0]) or 1.0
    begin = 170.0
    for place, (label, value) in enumerate(parts.items()):
        y = 4 + place * _BAR
        width = (WIDTH - begin - 80) * max(value, 0.0) / most
        picture.text(begin - 8, y + 15, label, "label end", 22)
        picture.rectangle(begin, y + 3, max(width, 1), _BAR - 6, "bar", f"{label}: {form.format(value)}")
        picture.text(begin + max(width, 1) + 6, y + 15, form.format(value), "tick")
    return picture.document()


def histogram(name: str, edges: Sequence[float], counts: Sequence[int], below: str) -> str:
    top = TOP + 26
    across = Axis(edges[0], edges[-1], LEFT, WIDTH - RIGHT)
    up = Axis(0, max([*counts, 1]) * 1.05, HEIGHT - BOTTOM, top)
    picture = Svg(WIDTH, HEIGHT, name)
    picture.frame(across, up, below, "rows")
    for left, right, count in zip(edges, edges[1:], counts):
        x, y = across.place(left), up.place(count)
        note = f"{number(left)} to {number(right)}: {count} rows"
        picture.rectangle(x + 0.5, y, across.place(right) - x - 1, up.begin - y, "bar", note)
    if edges[0] < 0 < edges[-1]:
        picture.line(across.place(0), up.begin, across.place(0), up.end, "axis")
    return picture.document()


def grid(
    name: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[Optional[float]]],
    below: str,
    beside: str,
) -> str:
    """Cells, of a stronger colour the larger they are; the mouse shows each number. Columns are named where it fits."""
    cell = min(_CELL * 3, max(2.0, (WIDTH - 150) / max(len(columns), 1)))
    begin, top = 140.0, 26.0
    width, height = begin + cell * len(columns) + RIGHT, top + _CELL * len(rows) + 44
    picture = Svg(max(width, 320), height, name)
    known = [value for row in values for value in row if value is not None]
    most = max([*known, 0.0]) or 1.0
    picture.text(2, 14, beside, "name", 60)
    for place, label in enumerate(rows):
        y = top + place * _CELL
        picture.text(begin - 8, y + 13, label, "tick end", 20)
        for column, value in enumerate(values[place]):
            if value is not None:
                note = f"{label}, {columns[column]}: {number(value)}"
                x = begin + column * cell
                picture.rectangle(x, y, cell, _CELL, "cell", note, 0.08 + 0.92 * max(value, 0.0) / most)
    stride = max(1, -(-int(44 / cell)))
    for column in range(0, len(columns), stride):
        picture.text(begin + (column + 0.5) * cell, top + len(rows) * _CELL + 16, columns[column], "tick middle", 8)
    picture.text(begin + cell * len(columns) / 2, height - 6, below, "name middle", 60)
    return picture.document()
