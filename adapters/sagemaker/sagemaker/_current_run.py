"""The run of sagemaker.experiments that is open as a context: jobs that are submitted meanwhile belong to it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

_OPEN: ContextVar[Any] = ContextVar("run", default=None)


def current_run() -> Any:
    """None: none is open in this thread or task."""
    return _OPEN.get()


def config_of_open_run() -> dict[str, str] | None:
    """The experiment_config of the run that is open."""
    run = current_run()
    return None if run is None else dict(run.experiment_config)


def enter_run(run: Any) -> None:
    """
    Raises:
        RuntimeError: another one is open.
    """
    if _OPEN.get() is not None:
        raise RuntimeError(f"{_OPEN.get()!r} is open; a run cannot be opened within another")
    _OPEN.set(run)


def leave_run(run: Any) -> None:
    if _OPEN.get() is run:
        _OPEN.set(None)
