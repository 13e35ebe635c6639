"""What goes wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Optional


class SDAError(ValueError):
    """Something is wrong with what was asked for; the message says what was expected."""


class TargetMissed(RuntimeError):
    """No trial meets the target; from launch(strict=True)."""


def unknown_key(what: str, said: Iterable[object], known: Sequence[str]) -> Optional[str]:
    """What is to be said of the first key that means nothing, with the nearest that does; None where there is none."""
    for key in said:
        if key in known:
            continue
        near = difflib.get_close_matches(str(key), known, 1)
        hint = f'did you mean "{near[0]}"?' if near else f"known are {', '.join(known)}"
        return f'{what}: unknown key "{key}"; {hint}'
    return None


def refuse_unknown(what: str, said: Iterable[object], known: Sequence[str]) -> None:
    """SDAError for a key that means nothing."""
    complaint = unknown_key(what, said, known)
    if complaint is not None:
        raise SDAError(complaint)
