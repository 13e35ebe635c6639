"""Processing jobs: not here. A step that prepares or judges data is a training job of its own, or a component."""

from __future__ import annotations

from typing import Any

from .exceptions import NotHere

__all__ = ["ProcessingInput", "ProcessingOutput", "Processor", "ScriptProcessor"]


class Processor:
    """Cannot be made: the error says what to use."""

    def __init__(self, *_: Any, **__: Any):
        raise NotHere(
            f"{type(self).__name__}: run the script as a job: Estimator(entry_point=..., debugger_hook_config=False)"
            '.fit({"input": FOLDER}); it reads SM_CHANNEL_INPUT, and what it writes into SM_OUTPUT_DATA_DIR is kept as '
            "output.tar.gz. What it did is said by smexperiments.tracker.Tracker"
        )


class ScriptProcessor(Processor):
    """The same."""


class ProcessingInput(Processor):
    """The same."""


class ProcessingOutput(Processor):
    """The same."""
