"""Small SVG pictures: elements as text, with all that came from a run escaped."""

from __future__ import annotations

import base64
import struct
import unicodedata
import zlib
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from ..arrays import Array

FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
INK, FAINT, PAPER = "#1b1f24", "#59636e", "#ffffff"  # 16:1 and 6:1 on paper
CHARACTER = 7.25  # a character's width at 12 px


def readable(text: str, limit: int = 40) -> str:
    """Fit to be looked at: what steers a terminal or the direction of writing is replaced, what is long is cut."""
    shown = "".join("\ufffd" if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") else each for each in text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


class Drawing:
    """An SVG document, grown element by element. Coordinates are pixels."""

    def __init__(self, width: float, height: float, title: str, description: str = ""):
        self.width, self.height = width, height
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_number(width)}" height="{_number(height)}" '
            f'viewBox="0 0 {_number(width)} {_number(height)}" role="img" font-family={quoteattr(FONT)} '
            f'font-size="12">',
            f"<title>{escape(readable(title, 200))}</title>",
            f"<desc>{escape(readable(description, 1000))}</desc>" if description else "",
            f'<rect width="100%" height="100%" fill="{PAPER}"/>',
        ]

    def text(self, x: float, y: float, text: str, *, limit: int = 40, **attributes: str | float) -> None:
        """`y` is the middle of the line."""
        named = {"fill": INK, **attributes}
        shown = escape(readable(text, limit))
        self._parts.append(f'<text x="{_number(x)}" y="{_number(y + 4)}"{_attributes(named)}>{shown}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, **attributes: str | float) -> None:
        ends = f'x1="{_number(x1)}" y1="{_number(y1)}" x2="{_number(x2)}" y2="{_number(y2)}"'
        self._parts.append(f"<line {ends}{_attributes(attributes)}/>")

    def rectangle(
        self, x: float, y: float, width: float, height: float, *, note: str = "", **attributes: str | float
    ) -> None:
        """`note` is shown when a mouse rests on it."""
        place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
        inside = f"><title>{escape(readable(note, 200))}</title></rect>" if note else "/>"
        self._parts.append(f"<rect {place}{_attributes(attributes)}{inside}")

    def path(self, points: list[tuple[float, float]], **attributes: str | float) -> None:
        steps = " L".join(f"{_number(x)} {_number(y)}" for x, y in points)
        self._parts.append(f'<path d="M{steps}" fill="none"{_attributes(attributes)}/>')

    def pixels(self, x: float, y: float, width: float, height: float, colours: Array, *, note: str = "") -> None:
        """An image of uint8 [rows, columns, 3], each element a rectangle with sharp edges, the first row on top."""
        data = base64.b64encode(png_of(colours)).decode("ascii")
        place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
        self._parts.append(
            f'<image {place} preserveAspectRatio="none" style="image-rendering:pixelated" '
            f'href="data:image/png;base64,{data}"><title>{escape(readable(note, 200))}</title></image>'
        )

    def document(self) -> str:
        return "\n".join(part for part in [*self._parts, "</svg>"] if part)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _attributes(attributes: dict[str, str | float]) -> str:
    return "".join(
        f" {name.replace('_', '-')}={quoteattr(value if isinstance(value, str) else _number(value))}"
        for name, value in attributes.items()
    )


def png_of(colours: Array) -> bytes:
    """A PNG file of uint8 [rows, columns, 3]."""
    rows, columns, _ = colours.shape
    lines = np.zeros((rows, 1 + 3 * columns), dtype=np.uint8)  # each line begins with its filter: 0, none
    lines[:, 1:] = np.ascontiguousarray(colours).reshape(rows, 3 * columns)
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
