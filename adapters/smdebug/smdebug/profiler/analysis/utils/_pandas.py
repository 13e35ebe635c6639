"""Pandas, where it is installed: the rest of the package does without."""

from __future__ import annotations

from typing import Any

from ....exceptions import SMDebugError


def pandas() -> Any:
    """The module.

    Raises:
        SMDebugError: it is not installed.
    """
    try:
        import pandas as module
    except ImportError as missing:
        raise SMDebugError(
            "frames need pandas, which is not installed; install it (pip install pandas), or ask the readers "
            "(LocalSystemMetricsReader, LocalAlgorithmMetricsReader) for events"
        ) from missing
    return module
