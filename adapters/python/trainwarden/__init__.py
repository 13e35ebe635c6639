"""Trainwarden captures what happens inside a training while it runs, judges it with rules, and acts on the verdicts.

A PyTorch program need not be changed: use ``trainwarden run -- python train.py``, or
``python -m trainwarden train.py``. With any framework, open a hook:

    import trainwarden

    with trainwarden.Hook("runs/first", include_collections=["weights"], save=100) as hook:
        weight = hook.declare("weight", ["weights"])
        for step in range(1000):
            ...
            hook.save_tensor(weight, array)              # NumPy, JAX, TensorFlow, CuPy, PyTorch
            hook.save_scalar("loss", loss)
            if hook.step().stop_requested:
                break

    trial = trainwarden.open("runs/first")
    print(trial.value("weight", 900).std(), trial.tensor("loss").scalars())

    report = trainwarden.rules.run("runs/first", ["LossNotDecreasing"])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._core import CheckpointRequest, Histogram, HookReport, Statistics, StepEnd, compute_statistics, version
from ._log import log
from .errors import DataLoss, Error
from .guard import StepAdvice
from .hook import Hook
from .options import Collection, KeepForm, Kept, Mode, Reduction, SavePolicy, SaveSchedule
from .stopping import StopTraining

if TYPE_CHECKING:
    from . import rules
    from .control import SaveAnswer, StopAnswer, save, stop
    from .describing import describe, metrics_frame
    from .transfer import Exporter, ExportNote, ExportReport, ImportReport, export, import_run
    from .trial import Metric, RunState, Samples, StepState, TensorHandle, Trial, open

__all__ = [
    "CheckpointRequest",
    "Collection",
    "DataLoss",
    "Error",
    "ExportNote",
    "ExportReport",
    "Exporter",
    "Histogram",
    "Hook",
    "HookReport",
    "ImportReport",
    "KeepForm",
    "Kept",
    "Metric",
    "Mode",
    "Reduction",
    "RunState",
    "Samples",
    "SaveAnswer",
    "SavePolicy",
    "SaveSchedule",
    "Statistics",
    "StepAdvice",
    "StepEnd",
    "StepState",
    "StopAnswer",
    "StopTraining",
    "TensorHandle",
    "Trial",
    "__version__",
    "compute_statistics",
    "describe",
    "export",
    "import_run",
    "log",
    "metrics_frame",
    "open",
    "rules",
    "save",
    "stop",
]

__version__ = version()

# Only reading needs NumPy, so a training that is only captured does not import it.
_READING = ("Metric", "RunState", "Samples", "StepState", "TensorHandle", "Trial", "open")
_CONTROL = ("SaveAnswer", "StopAnswer", "save", "stop")
_TRANSFER = ("ExportNote", "ExportReport", "Exporter", "ImportReport", "export", "import_run")


def __getattr__(name: str) -> object:
    if name in ("experiments", "jobs", "rules", "torch", "tuning"):
        return importlib.import_module(f".{name}", __name__)
    if name in _READING:
        return getattr(importlib.import_module(".trial", __name__), name)
    if name in _CONTROL:
        return getattr(importlib.import_module(".control", __name__), name)
    if name in _TRANSFER:
        return getattr(importlib.import_module(".transfer", __name__), name)
    if name in ("describe", "metrics_frame"):
        return getattr(importlib.import_module(".describing", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
