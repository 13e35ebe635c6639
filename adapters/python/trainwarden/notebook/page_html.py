"""A page that shows a view by itself: script, styles and numbers inside, nothing from elsewhere."""

from __future__ import annotations

import base64
import json
from html import escape
from typing import Any

from .archive import Archive
from .bundle import Bundle
from .drawing import readable

# What the page may do: run what is inside, and reach nothing.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def page_of(bundle: Bundle, archive: Archive, state: dict[str, Any], title: str, svg: str) -> str:
    """`svg` is what is shown until the script runs, and where none may run."""
    held = _as_json({"archive": archive.words, "state": state})
    numbers = base64.b64encode(archive.numbers).decode("ascii")
    script = bundle.script.replace("</script", "<\\/script")
    styles = bundle.styles.replace("</style", "<\\/style")
    return (
        '<!doctype html>\n<html lang="en" data-trainwarden="frozen">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(readable(title, 200))}</title>\n<style>{styles}</style>\n</head>\n<body>\n"
        f'<main id="view">{svg}</main>\n'
        f'<script type="application/json" id="held">{held}</script>\n'
        f'<script type="text/plain" id="numbers">{numbers}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def _as_json(document: Any) -> str:
    """JSON that ends no element of the page."""
    return json.dumps(document).replace("<", "\\u003c")
