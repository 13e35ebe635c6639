"""Displayed: what shows itself in a terminal, a notebook and a file, and is drawn anew in place when it changes."""

from __future__ import annotations

import base64
import importlib
import os
import sys
import uuid
from collections.abc import Collection
from pathlib import Path
from typing import Any

from ..errors import InvalidArgument


class Displayed:
    """A picture. Frontends take the form that they like best: text, SVG, or a page."""

    _display_id = ""  # of the place in the notebook where it is shown; "": nowhere yet
    _cell_shown_by_itself: int | None = None

    # What a picture brings.

    def text(self) -> str:
        """For a terminal."""
        raise NotImplementedError

    def svg(self) -> str:
        """A document without scripts and without anything from elsewhere."""
        raise NotImplementedError

    def html(self) -> str | None:
        """A page that needs nothing from elsewhere; None when the picture has no more to offer than its SVG."""
        return None

    def page_height(self) -> int:
        """In pixels, of the frame that shows the page."""
        return 600

    # What every picture can do.

    def __str__(self) -> str:
        return self.text()

    def snapshot(self, path: str | os.PathLike[str]) -> None:
        """Writes what is shown into a file: SVG, or text when the name ends in .txt."""
        forms = {".svg": self.svg, ".txt": self.text}
        suffix = Path(path).suffix.lower()
        if suffix not in forms:
            raise InvalidArgument(
                f"expected a file name that ends in .svg or .txt, got {os.fspath(path)!r}; to_html() writes a page"
            )
        Path(path).write_text(forms[suffix](), encoding="utf-8")

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Writes a page that opens without a network and without Jupyter."""
        page = self.html()
        Path(path).write_text(page if page is not None else _page_of(self.svg()), encoding="utf-8")

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": self.text(), "image/svg+xml": self.svg()}
        page = self.html()
        if page is not None:
            bundle["text/html"] = framed(page, bundle["image/svg+xml"], self.page_height())
        wanted = set(bundle) if include is None else set(include)
        return {kind: data for kind, data in bundle.items() if kind in wanted - set(exclude or ())}

    # In IPython.

    def _ipython_display_(self) -> None:
        if self._cell_shown_by_itself is not None and self._cell_shown_by_itself == _cell():
            self._cell_shown_by_itself = None  # the last line of the cell that made it, and showed it already
            return
        self._show()

    def _show_by_itself(self) -> None:
        """As the helpers of old notebooks do when they are made; does nothing outside of IPython."""
        if _shell() is not None:
            self._show()
            self._cell_shown_by_itself = _cell()

    def _show(self) -> None:
        self._display_id = self._display_id or uuid.uuid4().hex
        _publishing().display(self._repr_mimebundle_(), raw=True, display_id=self._display_id)

    def _changed(self) -> None:
        """Draws anew where it is shown."""
        if self._display_id and _shell() is not None:
            _publishing().update_display(self._repr_mimebundle_(), raw=True, display_id=self._display_id)


def _shell() -> Any:
    """IPython's, when this process is one of its."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _publishing() -> Any:
    return importlib.import_module("IPython.display")


def _cell() -> int | None:
    shell = _shell()
    return None if shell is None else shell.execution_count


def image_source(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode("utf-8")).decode("ascii")


def framed(page: str, svg: str, height: int) -> str:
    """The page in a frame that may run scripts and reach nothing, over the picture. Where frames are removed, as by
    sites that show notebooks of strangers, the picture is what is left."""
    inside = page.replace("&", "&amp;").replace('"', "&quot;")
    return (
        f'<div style="position:relative;min-height:{height}px">'
        f'<img alt="" src="{image_source(svg)}">'
        '<iframe sandbox="allow-scripts" title="An interactive view of the same" '
        'style="position:absolute;left:0;top:0;width:100%;height:100%;border:0;background:#fff" '
        f'srcdoc="{inside}"></iframe></div>'
    )


def _page_of(svg: str) -> str:
    return f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Trainwarden</title>\n{svg}\n</html>\n'
