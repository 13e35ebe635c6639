"""What the package says to its user: on the log "sagemaker", as the SDK does."""

from __future__ import annotations

import logging
import sys

_log = logging.getLogger("sagemaker")


def say(message: str) -> None:
    """As information, shown on standard error unless the program has set up logging by itself."""
    if not logging.getLogger().handlers and not _log.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
        _log.addHandler(handler)
        _log.setLevel(logging.INFO)
    _log.info(message)
