"""What a test reads from an SVG picture."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Image:
    x: float
    y: float
    width: float
    height: float
    note: str
    pixels: np.ndarray[Any, np.dtype[np.uint8]]  # [rows, columns, 3]


class Picture:
    def __init__(self, svg: str):
        self.root = ElementTree.fromstring(svg)

    def texts(self) -> list[str]:
        return [element.text or "" for element in self.root.iter(f"{SVG}text")]

    def middles(self) -> list[tuple[str, float, float]]:
        """Each text with its x and the middle of its line."""
        texts = self.root.iter(f"{SVG}text")
        return [(each.text or "", float(each.attrib["x"]), float(each.attrib["y"]) - 4) for each in texts]

    def lines(self) -> list[dict[str, str]]:
        return [element.attrib for element in self.root.iter(f"{SVG}line")]

    def images(self) -> list[Image]:
        return [_image(element) for element in self.root.iter(f"{SVG}image")]


def _image(element: ElementTree.Element) -> Image:
    place = (float(element.attrib[name]) for name in ("x", "y", "width", "height"))
    _, _, data = element.attrib["href"].partition("base64,")
    note = element.findtext(f"{SVG}title") or ""
    return Image(*place, note, _pixels(base64.b64decode(data)))


def _pixels(png: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Of a PNG in RGB whose lines are not filtered; checks the sums of its chunks."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        data = png[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", png, at + 8 + length) == (zlib.crc32(kind + data),)
        chunks[kind] = data
        at += 12 + length
    columns, rows = struct.unpack_from(">II", chunks[b"IHDR"])
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(rows, 1 + 3 * columns)
    assert (lines[:, 0] == 0).all()
    return lines[:, 1:].reshape(rows, columns, 3)
