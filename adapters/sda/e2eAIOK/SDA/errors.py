"""What goes wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class SDAError(ValueError):
    """Something is wrong with what was asked for; the message says what was expected."""


class TargetMissed(RuntimeError):
    """No trial meets the target; from launch(strict=True)."""


def refuse_unknown(what: str, said: Iterable[object], known: Sequence[str]) -> None:
    """SDAError for a key that means nothing, with the nearest that does."""
    for key in said:
        if key in known:
            continue
        near = difflib.get_close_matches(str(key), known, 1)
        hint = f'did you mean "{near[0]}"?' if near else f"known are {', '.join(known)}"
        raise SDAError(f'{what}: unknown key "{key}"; {hint}')
