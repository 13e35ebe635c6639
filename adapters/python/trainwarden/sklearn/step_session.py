"""StepSession: one training of an estimator, whose steps are updates of its weights."""

from __future__ import annotations

from typing import Any, Optional

from .. import faults
from .._opening import open_for_attach
from ..boosting.parameters import as_labels
from ..guard import StepAdvice, may_skip, may_veto
from ..hook import Hook
from ..stopping import StopTraining
from .parameters import parameters_of


class StepSession:
    """Captures it. A step ends when the next one begins, or the training does: what is found out behind an update
    belongs to it. Only begin_step() raises into the training.

    Attributes:
        is_quiet: nothing but losses and metrics is wanted of the open step.
        stop_by: raised into a training that is asked to stop: what the estimator takes for an end of its training.
    """

    def __init__(self, run_dir: Optional[str], estimator: Any) -> None:
        self.stop_by: type[BaseException] = StopTraining
        self._run_dir = run_dir
        self._parameters = parameters_of(estimator)
        self._hook: Optional[Hook] = None
        self._ids: dict[str, int] = {}
        self._of_arrays: list[int] = []  # all but losses and metrics
        self._is_closed = False
        self._is_open = False  # a step is
        self._stops = False
        self.may_veto = False
        self.is_quiet = False

    def begin_step(self) -> None:
        self.end_step()
        self._open_step()
        if self._stops:
            faults.say("the training was asked to stop")
            self._stops = self.stop_by is StopTraining
            raise self.stop_by()

    @faults.guarded("begin a step of scikit-learn")
    def _open_step(self) -> None:
        if self._hook is None and not self._is_closed:
            self._open()
        self._is_open = self._hook is not None
        self.is_quiet = self._hook is None or (bool(self._of_arrays) and not self._hook.wants_any(self._of_arrays))

    @faults.guarded("end a step of scikit-learn")
    def end_step(self) -> None:
        if self._hook is not None and self._is_open:
            self._is_open = False
            self._stops = self._hook.step().stop_requested or self._stops

    def wants(self, name: str, *collections: str) -> bool:
        return self._hook is not None and self._hook.wants(self._id(self._hook, name, collections))

    def keep(self, name: str, value: Any, *collections: str) -> None:
        if self._hook is not None:
            identity = self._id(self._hook, name, collections)
            if self._hook.wants(identity):
                self._hook.save_tensor(identity, value)

    def add_cost(self, spent_ns: int) -> None:
        if self._hook is not None:
            self._hook.add_cost_ns(max(0, spent_ns))

    def is_vetoed(self) -> bool:
        return self._hook is not None and self.may_veto and self._hook.judge() is not StepAdvice.PROCEED

    def cannot_veto(self, what: str) -> None:
        if self._hook is not None and may_skip(self._hook):
            faults.say_once(f"rules cannot veto {what}")

    # What Sessions asks.

    def fails(self, error: BaseException) -> None:
        if self._hook is not None and isinstance(error, Exception):
            self._hook.dump_black_box(f"{type(error).__name__}: {error}", kind="exception")

    @faults.guarded("close the run of a training of scikit-learn")
    def close(self) -> None:
        self.end_step()
        self._is_closed = True
        hook, self._hook = self._hook, None
        if hook is not None:
            hook.close()

    def _open(self) -> None:
        self._hook = open_for_attach(self._run_dir, ["sklearn"], labels=as_labels(self._parameters))
        if self._hook is None:
            self._is_closed = True
            return
        self._hook.set_mode("train")
        self.may_veto = may_veto(self._hook)

    def _id(self, hook: Hook, name: str, collections: tuple[str, ...]) -> int:
        identity = self._ids.get(name)
        if identity is None:
            identity = self._ids[name] = hook.declare(name, collections)
            if collections[0] not in ("losses", "metrics"):
                self._of_arrays.append(identity)
        return identity
