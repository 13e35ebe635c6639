"""What the advisor says, in the form of its log."""

from __future__ import annotations

import logging
import sys

_FORMAT = "%(asctime)s - %(name)s - %(levelname)s - %(message)s"


def say(message: str, name: str = "E2EAIOK.SDA", level: int = logging.INFO) -> None:
    """On the log `name`, shown on standard error unless the program has set up logging by itself."""
    log = logging.getLogger(name)
    top = logging.getLogger(name.partition(".")[0])
    if not logging.getLogger().handlers and not top.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter(_FORMAT))
        top.addHandler(handler)
        top.setLevel(logging.INFO)
    log.log(level, message)


def warn(message: str) -> None:
    """The same as a warning."""
    say(message, level=logging.WARNING)
