"""How much is said, by Optuna's names. Trainwarden's messages are those of the logger "trainwarden"."""

from __future__ import annotations

import logging

CRITICAL, FATAL, ERROR = logging.CRITICAL, logging.FATAL, logging.ERROR
WARNING, WARN, INFO, DEBUG = logging.WARNING, logging.WARNING, logging.INFO, logging.DEBUG


def set_verbosity(verbosity: int) -> None:
    """The lowest level that is said."""
    logging.getLogger("trainwarden").setLevel(verbosity)


def get_verbosity() -> int:
    return logging.getLogger("trainwarden").getEffectiveLevel()


def get_logger(name: str) -> logging.Logger:
    return logging.getLogger(name)
