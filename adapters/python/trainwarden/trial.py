"""Trial: a read handle on a run, while it is written or after."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from enum import Enum
from typing import Any, NamedTuple, Union

from . import _core
from ._core import RunLoss, Statistics, TensorInfo
from .arrays import Array, array_of
from .errors import opening
from .options import Collection, Kept, Mode, Reduction

ModeLike = Union[Mode, str]
KeptLike = Union[Kept, str, Iterable[Union[Kept, str]]]


class StepState(str, Enum):
    """Whether a step can be read. UNAVAILABLE: it never existed, or never will."""

    UNAVAILABLE = "unavailable"
    AVAILABLE = "available"
    NOT_YET_AVAILABLE = "not yet available"


class RunState(str, Enum):
    """DIED: the writer ended without an end record (killed, power loss)."""

    RUNNING = "running"
    COMPLETED = "completed"
    STOPPED = "stopped"
    DIED = "died"


class Trial:
    """A run's steps and tensors, as of the last refresh().

        trial = trainwarden.open("runs/first")
        for step in trial.steps():
            print(step, trial.scalar("loss", step))
        weight = trial.tensor("conv1.weight")
        print(weight.value(weight.steps()[-1]).mean())

    weight.steps() leaves out steps at which only statistics of the tensor were saved; `kept` selects other forms.

    `step` is a step of `mode`; with the default, Mode.GLOBAL, it is the global step. `worker` is a name of `workers`;
    "" is the first that has the tensor at that step.

    It may be used from many threads; calls wait for each other.

    Raises:
        NotFound (LookupError): there is no such tensor, collection or worker.
        OutOfRange (LookupError): the tensor does not exist at that step or in that form; the message says what does.
        DataLoss: its bytes are damaged.
    """

    def __init__(self, path: str | os.PathLike[str], *, incomplete_step_window: int = 1000, verify: bool = True):
        with opening():
            self._core = _core.Trial(os.fspath(path), incomplete_step_window, verify)

    @classmethod
    def _of(cls, core: _core.Trial) -> Trial:
        trial = cls.__new__(cls)
        trial._core = core
        return trial

    def __repr__(self) -> str:
        return f"<Trial {self.path!r}: {self.state.value}, last step {self.last_complete_step}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The state of the run, as a notebook shows it."""
        from .notebook.trial_card import TrialCard

        return TrialCard(self)._repr_mimebundle_(include, exclude)

    # The run.

    def refresh(self) -> None:
        """Reads what the workers have written since. All other calls answer from the last refresh."""
        self._core.refresh()

    @property
    def path(self) -> str:
        return self._core.path

    @property
    def run_id(self) -> str:
        return self._core.run_id

    @property
    def recorder(self) -> str:
        """Who wrote it: "trainwarden", or "smdebug", whose folders are only read."""
        return self._core.recorder

    @property
    def created_unix_ns(self) -> int:
        return self._core.created_unix_ns

    @property
    def last_unix_ns(self) -> int:
        """When the newest step ended; 0 when there is none."""
        return self._core.last_unix_ns

    @property
    def labels(self) -> dict[str, str]:
        return self._core.labels

    @property
    def framework(self) -> str:
        """That it was trained with, as its adapter said: "PyTorch 2.11.0"; empty where nobody did."""
        return self._core.framework

    @property
    def state(self) -> RunState:
        return RunState(self._core.state)

    @property
    def world_size(self) -> int:
        return self._core.world_size

    @property
    def workers(self) -> list[str]:
        """Names, sorted: "rank-00000", ..."""
        return self._core.workers

    @property
    def losses(self) -> list[RunLoss]:
        """Data that the writer did not save, or that are damaged or missing in the run's files."""
        return self._core.losses

    # Steps.

    @property
    def modes(self) -> list[Mode]:
        """The modes of the run; GLOBAL only when the program never set a mode."""
        return [Mode(mode) for mode in self._core.modes]

    @property
    def last_complete_step(self) -> int:
        """The newest global step that every worker has ended; -1 when there is none."""
        return self._core.last_complete_step

    @property
    def loaded_all_steps(self) -> bool:
        """The run has ended, and everything it left has been read."""
        return self._core.loaded_all_steps

    def steps(
        self, mode: ModeLike = Mode.GLOBAL, *, include_incomplete: bool = False, kept: KeptLike | None = None
    ) -> list[int]:
        """The complete steps, rising. With `kept`, a form or several, those that hold any tensor in one of them."""
        if kept is None:
            return self._core.steps(mode, include_incomplete)
        return self._core.steps_with(_forms(kept), mode, include_incomplete)

    def global_step(self, mode: ModeLike, mode_step: int) -> int | None:
        return self._core.global_step(mode, mode_step)

    def mode_of(self, global_step: int) -> Mode | None:
        mode = self._core.mode_of(global_step)
        return None if mode is None else Mode(mode)

    def mode_step_of(self, global_step: int) -> int | None:
        return self._core.mode_step_of(global_step)

    def complete_steps_after(self, global_step: int) -> list[int]:
        """The complete steps after this one, to follow a run."""
        return self._core.complete_steps_after(global_step)

    def step_state(self, step: int, mode: ModeLike = Mode.GLOBAL) -> StepState:
        return StepState(self._core.step_state(step, mode))

    def wait_for_steps(
        self, steps: Iterable[int], mode: ModeLike = Mode.GLOBAL, timeout_s: float | None = None
    ) -> None:
        """Refreshes until each step is available. Ctrl-C ends the wait.

        Raises:
            OutOfRange: a step never will be; the message says why.
            DeadlineExceeded (TimeoutError): after `timeout_s` seconds; None: waits as long as it takes.
        """
        self._core.wait_for_steps(list(steps), mode, math.inf if timeout_s is None else timeout_s)

    # Tensors.

    def tensor_names(
        self,
        include: str | Iterable[str] = (),
        *,
        collection: str = "",
        mode: ModeLike | None = None,
        step: int | None = None,
    ) -> list[str]:
        """Names, sorted: those that match a pattern (PCRE2), in the collection, in `mode`, at `step`."""
        patterns = [include] if isinstance(include, str) else list(include)
        return self._core.tensor_names(patterns, collection, mode, step)

    def has_tensor(self, name: str) -> bool:
        return self._core.has_tensor(name)

    __contains__ = has_tensor

    def tensor(self, name: str) -> TensorHandle:
        """A handle on one tensor. NotFound when no tensor has that name."""
        return TensorHandle(self, self.tensor_info(name).name)

    def tensor_info(self, name: str) -> TensorInfo:
        return self._core.tensor_info(name)

    def collections(self) -> list[str]:
        return self._core.collections()

    def collection(self, name: str) -> Collection:
        """Its name, patterns and tensor names."""
        name, include, tensor_names = self._core.collection(name)
        return Collection(name, tuple(include), tuple(tensor_names))

    # Reading.

    def value(self, tensor: str, step: int, mode: ModeLike = Mode.GLOBAL, worker: str = "") -> Array:
        """The whole tensor, read-only.

        Once the run has ended it is the run's file in memory: nothing is copied, and it stays valid without the trial.
        bfloat16 and float8 are those of ml_dtypes where it is installed, else float32. Texts are objects (str).
        """
        return array_of(self._core.value(tensor, step, mode, worker))

    def statistics(self, tensor: str, step: int, mode: ModeLike = Mode.GLOBAL, worker: str = "") -> Statistics:
        """The saved statistics, else computed from the saved value or scalar."""
        return self._core.statistics(tensor, step, mode, worker)

    def reduction(
        self,
        tensor: str,
        step: int,
        reduction: Reduction | str,
        *,
        abs: bool = False,
        mode: ModeLike = Mode.GLOBAL,
        worker: str = "",
    ) -> float:
        """The single reduction that was saved; else computed from what was saved, by IEEE arithmetic over all elements.

        `abs` takes |x| first. OutOfRange when it cannot be computed; the message says what was saved.
        """
        return self._core.reduction(tensor, step, reduction, abs, mode, worker)

    def saved_reductions(
        self, tensor: str, step: int, mode: ModeLike = Mode.GLOBAL, worker: str = ""
    ) -> list[tuple[str, bool, float]]:
        """The single reductions that were saved, as (reduction, abs, value); else those of the saved statistics."""
        return self._core.saved_reductions(tensor, step, mode, worker)

    def scalar(self, tensor: str, step: int, mode: ModeLike = Mode.GLOBAL, worker: str = "") -> float:
        """Of a scalar, or of a tensor with one element."""
        return self._core.scalar(tensor, step, mode, worker)

    def shape(self, tensor: str, step: int, mode: ModeLike = Mode.GLOBAL, worker: str = "") -> tuple[int, ...]:
        return tuple(self._core.shape(tensor, step, mode, worker))

    def sharded(self, tensor: str, step: int, mode: ModeLike = Mode.GLOBAL) -> ShardedTensor:
        """A parameter that is sharded over the workers (DTensor, FSDP1, FSDP2), its gradient or its optimizer state, put together.

        FailedPrecondition when the run does not say that it is sharded, OutOfRange when not all parts are there at this
        step.
        """
        shape, statistics, workers = self._core.sharded(tensor, step, mode)
        return ShardedTensor(tuple(shape), statistics, workers)

    def workers_of(self, tensor: str, step: int, mode: ModeLike = Mode.GLOBAL) -> list[str]:
        return self._core.workers_of(tensor, step, mode, "")


    # --- what was sampled over time, beside the steps

    def metrics(self) -> list[Metric]:
        """What was sampled over time; what a program printed has the worker "output-0", a machine "machine-0"."""
        return [Metric(*fields) for fields in self._core.metrics()]

    def samples(self, metric: Metric, from_unix_ns: int = 0, to_unix_ns: int = 2**63 - 1) -> Samples:
        """The samples of a metric of metrics(), from one time until before another, by rising time.

            loss = next(metric for metric in trial.metrics() if metric.name == "loss")
            plt.plot(trial.samples(loss).step, trial.samples(loss).value)
        """
        return Samples(*self._core.samples(metric, from_unix_ns, to_unix_ns))


class Metric(NamedTuple):
    """What is sampled over time."""

    name: str
    worker: str  # "rank-00000"; of what a program printed "output-0"
    unit: str
    kind: str  # "gauge", "counter", "delta", "ratio"
    source: str  # "host", "process", "device", "rank"
    instance: str


class Samples(NamedTuple):
    """Arrays of equal length."""

    unix_ns: Array  # int64: nanoseconds since 1970
    value: Array  # float64
    step: Array  # float64; NaN where none was printed with the value


class ShardedTensor(NamedTuple):
    """A tensor whose parts lie on several workers, put together."""

    shape: tuple[int, ...]  # of the whole
    statistics: Statistics  # of the whole, exact
    workers: list[str]  # whose parts these are, one for each part


class TensorHandle:
    """One tensor of a trial."""

    def __init__(self, trial: Trial, name: str):
        self.trial = trial
        self.name = name

    def __repr__(self) -> str:
        return f"<TensorHandle {self.name!r} of {self.trial!r}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """As a notebook shows it: a number over steps as a line, any other tensor as a small table."""
        from .notebook.scalar_plot import ScalarPlot
        from .notebook.tensor_card import TensorCard

        info = self.info
        is_number = info.scalars > 0 or (info.values > 0 and not info.shape and info.dtype != "string")
        shown = ScalarPlot(self.trial, self.name) if is_number else TensorCard(self)
        return shown._repr_mimebundle_(include, exclude)

    @property
    def info(self) -> TensorInfo:
        return self.trial.tensor_info(self.name)

    def steps(
        self,
        mode: ModeLike = Mode.GLOBAL,
        *,
        kept: KeptLike = Kept.FULLEST,
        include_incomplete: bool = False,
    ) -> list[int]:
        """The complete steps at which the tensor was saved in this form, or in one of several, rising.

            weight.steps()                                # whole; of a loss as a scalar, so that value() or scalar() answers
            weight.steps(kept="statistics")               # also at steps that only a rule needed
            weight.steps(kept=["value", "statistics"])
        """
        return self.trial._core.steps_of(self.name, mode, _forms(kept), include_incomplete)

    def value(self, step: int, mode: ModeLike = Mode.GLOBAL, worker: str = "") -> Array:
        return self.trial.value(self.name, step, mode, worker)

    def values(self, steps: Iterable[int] | None = None, mode: ModeLike = Mode.GLOBAL) -> dict[int, Array]:
        """By step; by default all steps that hold the tensor whole."""
        chosen = self.steps(mode, kept=Kept.VALUE) if steps is None else steps
        return {step: self.value(step, mode) for step in chosen}

    def statistics(self, step: int, mode: ModeLike = Mode.GLOBAL, worker: str = "") -> Statistics:
        return self.trial.statistics(self.name, step, mode, worker)

    def reduction(
        self, step: int, reduction: Reduction | str, *, abs: bool = False, mode: ModeLike = Mode.GLOBAL
    ) -> float:
        return self.trial.reduction(self.name, step, reduction, abs=abs, mode=mode)

    def saved_reductions(
        self, step: int, mode: ModeLike = Mode.GLOBAL, worker: str = ""
    ) -> list[tuple[str, bool, float]]:
        return self.trial.saved_reductions(self.name, step, mode, worker)

    def scalar(self, step: int, mode: ModeLike = Mode.GLOBAL, worker: str = "") -> float:
        return self.trial.scalar(self.name, step, mode, worker)

    def scalars(self, steps: Iterable[int] | None = None, mode: ModeLike = Mode.GLOBAL) -> dict[int, float]:
        """By step; by default all steps that hold the tensor as a number."""
        chosen = self.steps(mode, kept=(Kept.SCALAR, Kept.VALUE)) if steps is None else steps
        return {step: self.scalar(step, mode) for step in chosen}

    def shape(self, step: int, mode: ModeLike = Mode.GLOBAL, worker: str = "") -> tuple[int, ...]:
        return self.trial.shape(self.name, step, mode, worker)

    def sharded(self, step: int, mode: ModeLike = Mode.GLOBAL) -> ShardedTensor:
        return self.trial.sharded(self.name, step, mode)

    def workers(self, step: int, mode: ModeLike = Mode.GLOBAL) -> list[str]:
        return self.trial.workers_of(self.name, step, mode)


def _forms(kept: KeptLike) -> list[str]:
    return [Kept(kept).value] if isinstance(kept, str) else [Kept(form).value for form in kept]


def open(path: str | os.PathLike[str], *, incomplete_step_window: int = 1000, verify: bool = True) -> Trial:
    """Opens the run in this folder for reading, while it is written or after.

    Arguments:
        incomplete_step_window: steps that may wait for a straggling worker before the reader continues without it.
        verify: check each payload's CRC when it is read.

    Raises:
        FileNotFoundError: there is no run (PathNotFound).
        DataLoss: its run.json cannot be read.
    """
    return Trial(path, incomplete_step_window=incomplete_step_window, verify=verify)
