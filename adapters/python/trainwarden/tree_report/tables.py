"""The tables of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

from ..notebook.drawing import readable
from .svg import number

MAX_ROWS = 60  # of the numbers beside a picture


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[Any]], *, kind: str = "") -> str:
    """The first cell of each row names it."""
    first, *rest = head
    header = f'<th scope="col">{_cell(first)}</th>' + "".join(
        f'<th scope="col" class="n">{_cell(each)}</th>' for each in rest
    )
    body = "".join(f"<tr>{_row(row)}</tr>" for row in rows)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{_attribute(caption)}"><table class="{kind}">'
        f"<caption>{_cell(caption)}</caption><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def behind(summary: str, content: str) -> str:
    """Shown when it is asked for."""
    return f"<details><summary>{_cell(summary)}</summary>{content}</details>"


def some(rows: Sequence[Any]) -> list[Any]:
    """At most MAX_ROWS of them, evenly, with the first and the last."""
    if len(rows) <= MAX_ROWS:
        return list(rows)
    return [rows[round(place * (len(rows) - 1) / (MAX_ROWS - 1))] for place in range(MAX_ROWS)]


def _row(row: Sequence[Any]) -> str:
    name, *values = row
    cells = (value if isinstance(value, Mark) else Mark(value) for value in values)
    return f'<th scope="row">{_cell(name)}</th>' + "".join(
        f'<td class="n {mark.kind}">{_cell(mark.value)}</td>' for mark in cells
    )


class Mark:
    """A cell with a class of the page's style."""

    def __init__(self, value: Any, kind: str = "") -> None:
        self.value, self.kind = value, kind


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return escape(number(value) if isinstance(value, float) else readable(str(value), 120))


def _attribute(text: str) -> str:
    return escape(readable(text, 200), {'"': "&quot;"})
