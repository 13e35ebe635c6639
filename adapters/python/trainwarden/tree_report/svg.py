"""Parts of the pictures: elements as text, coloured by classes of the page, which knows light and dark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional
from xml.sax.saxutils import escape

from ..notebook.axes import Axis
from ..notebook.drawing import readable

WIDTH, HEIGHT = 640.0, 260.0
_MIN_WIDTH = 520.0  # a narrow window scrolls a picture, so that its words stay readable
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 12.0, 44.0


def number(value: float) -> str:
    """As it stands beside an axis or in a table."""
    return f"{value:.4g}"


class Svg:
    """A picture with a name for those who cannot see it. Coordinates are pixels."""

    def __init__(self, width: float, height: float, name: str) -> None:
        self._parts = [
            f'<div class="wide"><svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escaped(name)}" '
            f'style="max-width:{width:g}px;min-width:{min(width, _MIN_WIDTH):g}px">'
        ]

    def text(self, x: float, y: float, text: str, kind: str = "", limit: int = 30) -> None:
        """`y` is the base of the line."""
        self._parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(readable(text, limit))}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        self._parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def rectangle(
        self, x: float, y: float, width: float, height: float, kind: str, note: str, strength: Optional[float] = None
    ) -> None:
        """`note` is shown when a mouse rests on it."""
        opacity = "" if strength is None else f' fill-opacity="{strength:.3f}"'
        place = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
        self._parts.append(f'<rect {place} class="{kind}"{opacity}><title>{escape(readable(note, 200))}</title></rect>')

    def path(self, points: Iterable[tuple[float, float]], kind: str, note: str = "") -> None:
        steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self._parts.append(f'<path d="M{steps}" class="{kind}"><title>{escape(readable(note, 200))}</title></path>')

    def dot(self, x: float, y: float, kind: str, note: str) -> None:
        title = f"<title>{escape(readable(note, 200))}</title>"
        self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="{kind}">{title}</circle>')

    def frame(self, across: Axis, up: Axis, below: str, beside: str) -> None:
        """Axes with their numbers, and thin lines at those of the vertical one."""
        for value in up.ticks(5):
            y = up.place(value)
            self.line(across.begin, y, across.end, y, "grid")
            self.text(across.begin - 8, y + 4, number(value), "tick end")
        for value in across.ticks(7):
            self.text(across.place(value), up.begin + 18, number(value), "tick middle")
        self.line(across.begin, up.begin, across.end, up.begin, "axis")
        self.text((across.begin + across.end) / 2, up.begin + 36, below, "name middle", 60)
        self.text(2, up.end - 12, beside, "name", 60)

    def document(self) -> str:
        return "".join([*self._parts, "</svg></div>"])


def escaped(text: str) -> str:
    """For an attribute."""
    return escape(readable(text, 300), {'"': "&quot;"})
