"""Pictures as SVG: histograms, lines, matrices. They show themselves in a notebook, and can be kept as a file."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

_COLOURS = ("#1f6f8b", "#c8553d", "#588157", "#8e6bbf", "#b08900", "#3d5a80", "#a4133c", "#4a4e69")
_MOST_POINTS = 2000
_MARGIN = 46


class Picture:
    """One or several drawings, one below the other.

    Attributes:
        svgs: the drawings.
    """

    def __init__(self, svgs: Sequence[str]):
        self.svgs = list(svgs)

    def _repr_html_(self) -> str:
        boxes = "".join(f'<div style="display:inline-block;margin:4px">{svg}</div>' for svg in self.svgs)
        return f'<div style="font:12px sans-serif">{boxes or "nothing to show"}</div>'

    def save(self, path: str) -> None:
        """As a file that any browser opens without a network."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'<!doctype html><meta charset="utf-8"><title>profile</title>{self._repr_html_()}\n')

    def __repr__(self) -> str:
        return f"<picture of {len(self.svgs)} drawings; save(path) keeps it>"


def show(picture: Picture) -> Picture:
    """In a notebook it appears; elsewhere it is only returned."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        return picture
    if get_ipython() is not None:
        display(picture)
    return picture


def _number(value: float) -> str:
    return f"{value:.4g}"


def _svg(width: int, height: int, title: str, inside: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img">'
        f"<title>{html.escape(title)}</title>"
        f'<text x="4" y="14" font-weight="bold">{html.escape(title)}</text>{inside}</svg>'
    )


def _axes(width: int, height: int, x: tuple[float, float], y: tuple[float, float], labels: tuple[str, str]) -> str:
    left, bottom, right, top = _MARGIN, height - _MARGIN, width - 10, 22
    return (
        f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#888"/>'
        f'<text x="{left}" y="{bottom + 15}">{_number(x[0])}</text>'
        f'<text x="{right}" y="{bottom + 15}" text-anchor="end">{_number(x[1])}</text>'
        f'<text x="{left - 4}" y="{bottom}" text-anchor="end">{_number(y[0])}</text>'
        f'<text x="{left - 4}" y="{top + 10}" text-anchor="end">{_number(y[1])}</text>'
        f'<text x="{(left + right) / 2}" y="{bottom + 30}" text-anchor="middle">{html.escape(labels[0])}</text>'
        f'<text x="{left + 6}" y="{top + 10}">{html.escape(labels[1])}</text>'
    )


def histogram(title: str, counts: Sequence[float], edges: Sequence[float], unit: str, width: int = 320) -> str:
    """Bars; there is one more edge than counts."""
    height = 220
    span = (edges[-1] - edges[0]) or 1.0
    most = max([*counts, 1])
    bars = []
    for count, left, right in zip(counts, edges, edges[1:]):
        x = _MARGIN + (left - edges[0]) / span * (width - _MARGIN - 10)
        wide = max((right - left) / span * (width - _MARGIN - 10) - 0.5, 0.5)
        tall = count / most * (height - _MARGIN - 22)
        bars.append(
            f'<rect x="{x:.1f}" y="{height - _MARGIN - tall:.1f}" width="{wide:.1f}" height="{tall:.1f}" '
            f'fill="{_COLOURS[0]}"><title>{_number(left)} to {_number(right)}: {count}</title></rect>'
        )
    axes = _axes(width, height, (edges[0], edges[-1]), (0, most), (unit, "count"))
    return _svg(width, height, title, axes + "".join(bars))


def lines(title: str, series: dict[str, list[tuple[float, float]]], labels: tuple[str, str], width: int = 1000) -> str:
    """A line for each name, of points (x, y); of many points the mean and the highest of neighbours."""
    height = 200 + 14 * ((len(series) + 3) // 4)
    points = [point for line in series.values() for point in line]
    if not points:
        return _svg(width, 60, title, '<text x="4" y="40">no data</text>')
    x0, x1 = min(x for x, _ in points), max(x for x, _ in points)
    y0, y1 = min(0.0, min(y for _, y in points)), max(y for _, y in points)
    bottom = 200 - _MARGIN
    drawn = []
    for number, (name, line) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        step = max(1, len(line) // _MOST_POINTS)
        path = " ".join(
            f"{_MARGIN + (x - x0) / ((x1 - x0) or 1) * (width - _MARGIN - 10):.1f},"
            f"{bottom - (y - y0) / ((y1 - y0) or 1) * (bottom - 22):.1f}"
            for x, y in _thinned(sorted(line), step)
        )
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}"/>')
        place = f'x="{_MARGIN + (number % 4) * (width - _MARGIN) // 4}" y="{200 + 12 * (number // 4)}"'
        drawn.append(f'<text {place} fill="{colour}">{html.escape(name[:60])}</text>')
    return _svg(width, height, title, _axes(width, 200, (x0, x1), (y0, y1), labels) + "".join(drawn))


def _thinned(line: list[tuple[float, float]], step: int) -> list[tuple[float, float]]:
    """Of each `step` neighbours the highest, so that no outlier is left out."""
    if step == 1:
        return line
    return [max(line[i : i + step], key=lambda point: point[1]) for i in range(0, len(line), step)]


def matrix(title: str, rows: dict[str, list[tuple[float, float]]], width: int = 1000) -> str:
    """A row for each name, of points (time, share of 100): the darker the busier. Columns are means of equal stretches;
    where nothing is known it is white."""
    points = [x for line in rows.values() for x, _ in line]
    if not points:
        return _svg(width, 60, title, '<text x="4" y="40">no data</text>')
    x0, x1 = min(points), max(points)
    columns = min(200, max(len(line) for line in rows.values()))
    left = 150
    tall = max(4, min(16, 600 // max(len(rows), 1)))
    wide = (width - left) / columns
    cells = []
    for number, (name, line) in enumerate(rows.items()):
        y = 24 + number * tall
        if tall >= 9:
            cells.append(f'<text x="4" y="{y + tall - 2}" font-size="{tall - 2}">{html.escape(name[:24])}</text>')
        sums: dict[int, list[float]] = {}
        for x, value in line:
            sums.setdefault(min(int((x - x0) / ((x1 - x0) or 1) * columns), columns - 1), []).append(value)
        for column, values in sums.items():
            mean = sum(values) / len(values)
            light = int(96 - max(0.0, min(mean, 100.0)) * 0.66)
            cells.append(
                f'<rect x="{left + column * wide:.1f}" y="{y}" width="{wide + 0.3:.1f}" height="{tall}" '
                f'fill="hsl(200,60%,{light}%)"><title>{html.escape(name)}: {_number(mean)}</title></rect>'
            )
    return _svg(width, 40 + len(rows) * tall, title, "".join(cells))


def bins_of(values: Sequence[float], edges: Sequence[float]) -> list[int]:
    """How many lie between neighbouring edges; the last edge belongs to the last bin."""
    counts = [0] * (len(edges) - 1)
    span = edges[-1] - edges[0]
    for value in values:
        if span > 0 and edges[0] <= value <= edges[-1]:
            counts[min(int((value - edges[0]) / span * len(counts)), len(counts) - 1)] += 1
    return counts


def found(patterns: Sequence[str], name: Any) -> bool:
    """Is any of the patterns (`re`) found in the name?"""
    import re

    return any(re.search(pattern, str(name)) for pattern in patterns)
