"""The logger "smdebug", set up once by the SMDEBUG_LOG_* variables."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections import defaultdict

_REPEATS = 3  # times that the same words are logged
_LEVELS = ("debug", "info", "warning", "error", "critical")
_OFF = "off"
_is_set_up = False


class _RepeatFilter(logging.Filter):
    """Drops a message that was logged often enough: polling would say the same for hours."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: defaultdict[str, int] = defaultdict(int)

    def filter(self, record: logging.LogRecord) -> bool:
        words = record.getMessage()
        self._counts[words] += 1
        return self._counts[words] <= _REPEATS


class _BelowError(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno < logging.ERROR


class _FileHandler(logging.Handler):
    """Opens the file for each line: a program may close descriptors that it knows nothing of, and open files of its own
    under their numbers."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = os.path.abspath(path)
        with open(self._path, "a", encoding="utf-8"):  # what is wrong with the path is said at once
            pass

    def emit(self, record: logging.LogRecord) -> None:
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(self.format(record) + "\n")
        except Exception:
            self.handleError(record)


def _formatter() -> logging.Formatter:
    context = os.environ.get("SMDEBUG_LOG_CONTEXT", f"{socket.gethostname()}:{os.getpid()}")
    context = context.replace("%", "%%")
    return logging.Formatter(
        f"[%(asctime)s.%(msecs)03d {context} %(levelname)s %(filename)s:%(lineno)d] %(message)s",
        datefmt="%Y-%m-%d %H:%M:%S",
    )


def _handlers() -> list[logging.Handler]:
    """Standard error, so that the program's own output stays as it is. With SMDEBUG_LOG_ALL_TO_STDOUT standard output;
    when it is false, for all but errors. A file in addition when SMDEBUG_LOG_PATH names one."""
    out, err = logging.StreamHandler(sys.stdout), logging.StreamHandler(sys.stderr)
    choice = os.environ.get("SMDEBUG_LOG_ALL_TO_STDOUT", "").lower()
    handlers: list[logging.Handler] = [out] if choice else [err]
    if choice == "false":
        out.addFilter(_BelowError())
        err.setLevel(logging.ERROR)
        handlers.append(err)
    path = os.environ.get("SMDEBUG_LOG_PATH")
    if path:
        handlers.append(_FileHandler(path))
    for handler in handlers:
        handler.setFormatter(_formatter())
    return handlers


def _set_up(logger: logging.Logger) -> None:
    for handler in _handlers():
        logger.addHandler(handler)
    logger.addFilter(_RepeatFilter())
    logger.propagate = False
    level = os.environ.get("SMDEBUG_LOG_LEVEL", "info").lower()
    logger.disabled = level == _OFF
    logger.setLevel(level.upper() if level in _LEVELS else logging.INFO)


def get_logger(name: str = "smdebug") -> logging.Logger:
    """The logger of that name; the first call sets it up.

    SMDEBUG_LOG_LEVEL: debug, info (also what any other word means), warning, error, critical, off.
    """
    global _is_set_up
    if not _is_set_up:
        _is_set_up = True
        _set_up(logging.getLogger(name))
    return logging.getLogger(name)
