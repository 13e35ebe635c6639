"""What users hand over as a run: a trial of ours, one of smdebug's, or a path."""

from __future__ import annotations

import os
from typing import Any

from ..errors import InvalidArgument
from ..trial import Trial, open


def trial_of(source: Any) -> Trial:
    if isinstance(source, (str, os.PathLike)):
        return open(source)
    inner = getattr(source, "source", source)  # smdebug's trials hold one of ours
    if isinstance(inner, Trial):
        return inner
    raise InvalidArgument(f"expected a trial or the path of a run, got {type(source).__name__}")
