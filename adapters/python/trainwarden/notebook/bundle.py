"""The page's own views, built for notebooks (web/src/notebook): a script and its styles, as they lie in the package."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "page"


@dataclass(frozen=True)
class Bundle:
    script: str
    styles: str


@functools.lru_cache(maxsize=1)
def bundle() -> Bundle | None:
    """None when the package was built without the page."""
    script, styles = _FOLDER / "attention.js", _FOLDER / "attention.css"
    if not script.exists():
        return None
    return Bundle(script.read_text(encoding="utf-8"), styles.read_text(encoding="utf-8"))
