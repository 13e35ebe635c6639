"""Session: one training of XGBoost becomes a run, a boosting round a step."""

from __future__ import annotations

from typing import Any, Optional

from xgboost.core import XGBoostError

from .. import faults
from .._opening import open_for_attach
from ..hook import Hook
from . import facts
from .parameters import as_labels, as_tensors, effective
from .ranks import rank_and_size
from .recorder import Recorder


class Session:
    """Captures one training. Nothing here raises into it.

    A round's step ends when the next round begins, or the training ends: the last one is then known to be the last, and
    no time lies between.
    """

    def __init__(self, run_dir: Optional[str], params: Any, dtrain: Any, evals: Any) -> None:
        self._run_dir = run_dir
        self._params = params
        self._dtrain = dtrain
        self._evals = list(evals or [])
        self._hook: Optional[Hook] = None
        self._recorder: Optional[Recorder] = None
        self._model: Any = None  # of the round whose step is open
        self._is_open = False
        self._stops = False

    @faults.guarded("begin the run of a training of XGBoost")
    def training_begins(self, model: Any) -> None:
        try:
            rounds = model.num_boosted_rounds()
        except XGBoostError:
            return  # of parameters that are wrong, which XGBoost tells the program in a moment
        self._open(model, rounds)

    @faults.guarded("end a round of XGBoost")
    def _end_round(self, is_last: bool) -> None:
        if self._hook is None or self._recorder is None or not self._is_open:
            return
        self._is_open = False
        self._record_round(self._recorder, is_last)
        if self._hook is not None:  # it may have been closed for too many faults
            self._stops = self._hook.step().stop_requested

    @faults.guarded("record what a round of XGBoost leaves")
    def _record_round(self, recorder: Recorder, is_last: bool) -> None:
        model, self._model = self._model, None
        recorder.record_round(model, is_last)

    def round_begins(self) -> bool:
        """True: somebody wants the training to stop."""
        self._end_round(is_last=False)
        return self._stops

    @faults.guarded("record a round of XGBoost")
    def round_ends(self, model: Any, evals_log: Any) -> None:
        if self._recorder is None:
            return
        self._is_open = True
        self._model = model
        self._recorder.record_metrics(evals_log)

    def training_ends(self, model: Any) -> None:
        self._end_round(is_last=True)

    def own_round(self, booster: Any, dtrain: Any) -> None:
        """A round of a loop of the program's own, which has ended."""
        if self._hook is None:
            self._open(booster, rounds=booster.num_boosted_rounds() - 1)
        self._dtrain = dtrain
        self.round_ends(booster, {})
        self._end_round(is_last=False)

    def fails(self, error: BaseException) -> None:
        """The training has raised."""
        if self._hook is not None and isinstance(error, Exception):
            self._hook.dump_black_box(f"{type(error).__name__}: {error}", kind="exception")

    @faults.guarded("close the run of a training of XGBoost")
    def close(self) -> None:
        self._end_round(is_last=True)
        hook, self._hook, self._recorder = self._hook, None, None
        if hook is not None:
            hook.close()

    def _open(self, model: Any, rounds: int) -> None:
        parameters = effective(self._params, model.cvfolds[0].bst if facts.is_packed(model) else model)
        options: dict[str, Any] = {}
        place = rank_and_size()  # without it the environment has the word
        if place is not None:
            options.update(rank=place[0], world_size=place[1])
        if rounds > 0:  # the training goes on with a model that has some
            options.update(first_global_step=rounds, first_mode_steps={"train": rounds})
        self._hook = open_for_attach(self._run_dir, labels=as_labels(parameters), **options)
        if self._hook is None:
            return
        self._hook.set_mode("train")
        self._recorder = Recorder(self._hook, self._dtrain, self._evals, as_tensors(parameters))
