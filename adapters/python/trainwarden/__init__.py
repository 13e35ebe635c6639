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

TYPE_CHECKING = False  # a program that trains nothing does not pay for typing
if TYPE_CHECKING:
    from typing import Any

    from . import rules
    from ._core import CheckpointRequest, Histogram, HookReport, Statistics, StepEnd, compute_statistics, version
    from ._log import log
    from .control import SaveAnswer, StopAnswer, save, stop
    from .describing import describe, metrics_frame
    from .errors import DataLoss, Error
    from .guard import StepAdvice
    from .hook import Hook
    from .options import Collection, KeepForm, Kept, Mode, Reduction, SavePolicy, SaveSchedule
    from .stopping import StopTraining
    from .transfer import Exporter, ExportNote, ExportReport, ImportReport, export, import_run
    from .trial import Metric, RunState, Samples, StepState, TensorHandle, Trial, open

    __version__ = version()

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

# Where each lies. Everything is imported when it is first asked for: attached programs import the package when they
# start, of those that train most only write, and only reading needs NumPy.
_PLACES = {
    "_core": ("CheckpointRequest", "Histogram", "HookReport", "Statistics", "StepEnd", "compute_statistics", "version"),
    "_log": ("log",),
    "control": ("SaveAnswer", "StopAnswer", "save", "stop"),
    "describing": ("describe", "metrics_frame"),
    "errors": ("DataLoss", "Error"),
    "guard": ("StepAdvice",),
    "hook": ("Hook",),
    "options": ("Collection", "KeepForm", "Kept", "Mode", "Reduction", "SavePolicy", "SaveSchedule"),
    "stopping": ("StopTraining",),
    "transfer": ("ExportNote", "ExportReport", "Exporter", "ImportReport", "export", "import_run"),
    "trial": ("Metric", "RunState", "Samples", "StepState", "TensorHandle", "Trial", "open"),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}
_LATE = (
    "_core", "_spool", "errors", "experiments", "guard", "hook", "jobs", "options", "rules", "stopping", "torch",
    "tuning",
)  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _LATE:
        return _imported(name)
    if name == "__version__":
        found: object = _imported("_core").version()
    elif name in _MODULES:
        found = getattr(_imported(_MODULES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def _imported(module: str) -> Any:
    from importlib import import_module

    return import_module(f".{module}", __name__)


def __dir__() -> list[str]:
    return __all__
